"""Compiles CUDA C++ from standard input; prints registers and machine code, for machine.rs."""

import ctypes
import importlib.metadata
import subprocess
import sys
import tempfile


def file(package, name):
    """A file of a Python package."""
    found = [path for path in importlib.metadata.files(package) if path.name.startswith(name)]
    return str(found[0].locate())


def compiled(text, options):
    """The cubin of a program."""
    library = ctypes.CDLL(file("nvidia-cuda-nvrtc", "libnvrtc.so."))
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None)
    given = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    failed = library.nvrtcCompileProgram(program, len(options), given)
    what = "ProgramLog" if failed else "CUBIN"
    getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    content = ctypes.create_string_buffer(size.value)
    getattr(library, f"nvrtcGet{what}")(program, content)
    if failed:
        sys.exit(content.value.decode())
    return content.raw


with tempfile.NamedTemporaryFile(suffix=".cubin") as cubin:
    cubin.write(compiled(sys.stdin.read(), sys.argv[1:]))
    cubin.flush()
    for program, option in [("cuobjdump", "--dump-resource-usage"), ("nvdisasm", "--print-code")]:
        command = [file(f"nvidia-cuda-{program}", program), option, cubin.name]
        print(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
