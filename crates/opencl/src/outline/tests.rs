use super::*;

#[test]
fn macros_of_directives() {
    let outline = Outline::of(
        "#ifndef WG // the group\n  #define WG 64\n#endif\n#define TWO(x) ((x) * 2)\n\
         #if VW == 4 || 2 == VW\n#elif defined(FAST) && UNROLL > 0 /* no\n more */\n#endif\n\
         #if !defined(TS)\n#define TS (4 * \\\n WG)\n#endif\n#ifdef CUDA\n#endif\n",
    );
    let of = |name: &str| outline.macros[name].clone();
    assert_eq!(of("WG").default.as_deref(), Some("64"));
    assert_eq!(of("TS").default.as_deref(), Some("( 4 * WG )"));
    assert!(of("TWO").defined && !of("WG").defined);
    assert_eq!(Outline::of("#if A == 0x10\n#endif\n").macros["A"].compared, BTreeSet::from([16]));
    assert_eq!(of("VW").compared, BTreeSet::from([2, 4]));
    assert!(of("VW").valued && !of("VW").ordered && of("UNROLL").ordered);
    assert!(of("FAST").asked && !of("FAST").valued && of("CUDA").asked);
}

#[test]
fn group_sizes_are_found() {
    let text = "__kernel __attribute__((reqd_work_group_size(MDIMC, max(2, N), 1)))\nvoid f() {}";
    let group = ["MDIMC", "max ( 2 , N )", "1"].map(String::from);
    assert_eq!(Outline::of(text).groups, [("f".to_owned(), group)]);
    assert!(Outline::of("reqd_work_group_size(1, 2)").groups.is_empty());
    assert!(Outline::of("reqd_work_group_size(1, 2").groups.is_empty());
}

/// Everything that may be a declaration counts as one: a macro of the name of a variable breaks a
/// source that compiles.
#[test]
fn declarations() {
    let declared = [
        "void f(int n) {}",
        "void f(global float *n) {}",
        "void f(global float *a, const int n) {}",
        "int a, n;",
        "int a = g(1, 2), n = 3;",
        "int a[] = {1, 2}, n;",
        "void f() { struct s *a, *n; }",
        "float *n = p;",
        "float * const n = p;",
        "real_t *n;",
        "struct s { int n; }; int g(struct s *t) { return t->n; }",
        "int g(struct s t) { return t.n + n; }",
        "#define n 4\n",
        "typedef float n;",
        "float n[4];",
        "int n(int x);",
        "enum e { a, n };",
        "for (int i = 0, n = 5; i < n; i++) {}",
        "n: goto n;",
    ];
    for text in declared {
        assert!(Outline::of(text).declares("n"), "{text}");
    }
    let used = [
        "for (int i = 0; i < n; i++) x[i * n + g(a, n)] += 2 * n;",
        "float x[n];",
        "if (n == 3) return n;",
        "int x = a * n;",
        "x = (a * n);",
        "y = f(a * n, b);",
        "#if n > 3\n#endif\n",
        "// int n;\nx = n;",
        "#ifndef n\n#define n 4\n#endif\nx = n;",
        "#define AT(x, y) ((y) * n + (x))\nb = a[AT(1, 2)];",
        "x = \"int n\"; y = n;",
        "x = c ? n : 0;",
    ];
    for text in used {
        let outline = Outline::of(text);
        assert!(outline.uses("n") && !outline.declares("n"), "{text}");
    }
    assert!(!Outline::of("int m; /* n */ char c = 'n';").uses("n"));
}

/// Nothing here takes more than a moment.
#[test]
fn large_texts() {
    let table = format!("int t[] = {{{}}};", "n, ".repeat(100_000));
    assert!(Outline::of(&table).declares("n"), "far from where it begins");
    assert!(!Outline::of(&";".repeat(2 << 20)).uses("n"));
    let attributes = "reqd_work_group_size(1, 1, 1) ".repeat(20_000);
    assert!(Outline::of(&attributes).groups.is_empty());
}

/// The kind of a name follows from the tokens next to it.
#[test]
fn types_and_values() {
    for (text, stands) in [
        ("void f(const T *a) { T x = a[0]; }", Stands::Type),
        ("x = (T)y;", Stands::Type),
        ("{ T *p = a; }", Stands::Type),
        ("T float f() {}", Stands::Words),
        ("T for (;;) {}", Stands::Words),
        ("int t[] = { T * b, (T) };", Stands::Value),
        ("x = T * y; return T;", Stands::Value),
    ] {
        assert_eq!(Outline::of(text).stands("T"), stands, "{text}");
        assert!(!Outline::of(text).declares("T"), "{text}");
    }
    for (text, lanes) in [
        ("T x; y = x + b.w;", 1),
        ("T v; v.x = 1;", 2),
        ("void f(T *a) { a[b[1]].z = 1; }", 4),
        ("T v; v.sA = v.hi;", 16),
    ] {
        assert_eq!(Outline::of(text).lanes("T"), lanes, "{text}");
    }
    assert!(Outline::of("__global__ void f() { x = threadIdx.x; }").is_cuda());
    assert!(!Outline::of("#define THREAD threadIdx.x\n__kernel void f() {}").is_cuda());
}

#[test]
fn what_a_kernel_needs() {
    let source = "\
        #define TILE (WG * 4)\n\
        #define PASTED(i) part##i\n\
        #if WIDE == 1\n\
        typedef float4 real;\n\
        #else\n\
        typedef float real;\n\
        #endif\n\
        typedef struct { real a[LEN]; } pair;\n\
        __constant int table[2] = { FIRST, 2 };\n\
        real helper(real x) {\n\
        #ifdef FAST\n\
            if (x > 0) { return x;\n\
        #else\n\
            if (x > 1) { return x * SLOW;\n\
        #endif\n\
            } return table[0]; }\n\
        struct s made(int a) { }\n\
        #ifdef SIZED\n\
        __kernel __attribute__((reqd_work_group_size(WG, 1, 1)))\n\
        #else\n\
        __kernel\n\
        #endif\n\
        void k(__global real *a) { a[0] = helper(a[1]); }\n\
        __kernel void other(__global pair *a) { a[OTHER].a[0] = TILE; }\n\
        __kernel void pasted(__global int *a) { a[0] = PASTED(1); }\n";
    let needed = |entry: &str, names: &[&str]| {
        let needed = Parts::new(source).needed_by(entry)?;
        Some(names.iter().map(|name| u8::from(needed.contains(*name))).collect::<Vec<_>>())
    };
    let names = ["WIDE", "FAST", "SLOW", "FIRST", "SIZED", "WG", "LEN", "OTHER"];
    assert_eq!(needed("k", &names), Some(vec![1, 1, 1, 1, 1, 1, 0, 0]));
    assert_eq!(needed("other", &names), Some(vec![1, 0, 0, 0, 0, 1, 1, 1]));
    // Names that are made, and kernels that a macro makes, may need anything.
    assert_eq!(needed("pasted", &names), None);
    assert_eq!(needed("none", &names), None);
    // So may a source whose branches end inside different brackets.
    for unclear in ["#if A\nint f() {\n#else\nint f()\n#endif\n{}", "int f() { } }", "#else\n"] {
        let source = format!("kernel void k() {{ }}\n{unclear}\n");
        assert_eq!(Parts::new(&source).needed_by("k"), None, "{unclear}");
    }
}

#[test]
fn dimensions_of_ids() {
    let dimensions = |text: &str| Outline::of(text).dimensions();
    assert_eq!(dimensions("int a = get_local_id(1) + get_global_size(0);"), 2);
    assert_eq!(dimensions("int a = threadIdx.x + blockDim.z;"), 3);
    assert_eq!(dimensions("int a = gridDim.x + hipBlockIdx_y + own.z;"), 2);
    assert_eq!(dimensions("int get_it(int); int a = get_it(2);"), 0);
    let parts = Parts::new(
        "#define ROW threadIdx.y\n\
         __device__ int own() { return ROW; }\n\
         __global__ void one(int *a) { a[threadIdx.x] = 1; }\n\
         __global__ void two(int *a) { a[own()] = blockIdx.x; }\n",
    );
    assert_eq!(["one", "two", "three"].map(|f| parts.dimensions_of(f)), [Some(1), Some(2), None]);
}
