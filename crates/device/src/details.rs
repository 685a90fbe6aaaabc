//! What a device states of itself beyond what is listed.

use opencl3::device::{
    CL_DEVICE_REGISTERS_PER_BLOCK_NV, CL_DEVICE_WARP_SIZE_NV, Device as Info, get_device_info,
};

use super::Device;
use super::cuda::{L2, attribute};
use super::list::Id;

/// Numbers for those who measure a device. What its driver does not tell is 0 or nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Details {
    /// The greatest clock rate in MHz.
    pub clock_mhz: u32,
    /// Bytes of the cache of global memory.
    pub cache: u64,
    /// Items that move in lockstep: NVIDIA's warps, AMD's wavefronts.
    pub lockstep: Option<u32>,
    /// Numbers of single precision in a vector that one instruction works on, at least 1.
    pub vector: u32,
    /// Bytes of a line of the cache of global memory; 0 if unknown.
    pub line: u32,
    /// 32-bit registers that a workgroup can have, where the device reports it: NVIDIA's.
    pub registers: Option<u32>,
}

impl Device {
    /// Bytes of which parts of buffers begin at a multiple, a power of two; what the driver does
    /// not tell is taken for 4096, which is no less than any has.
    pub fn alignment(&self) -> usize {
        // CUDA C++ Programming Guide, section 5.3.2.
        let Id::OpenCl(id) = self.id else { return 256 };
        let bits = Info::new(id).mem_base_addr_align().unwrap_or(0);
        if bits < 8 { 4096 } else { (bits as usize / 8).next_power_of_two() }
    }

    /// Asks the driver; in CUDA for the bytes of the cache alone.
    pub fn details(&self) -> Details {
        let id = match self.id {
            Id::OpenCl(id) => id,
            Id::Cuda(number) => {
                let cache = attribute(number, L2).ok().and_then(|n| n.try_into().ok());
                return Details { cache: cache.unwrap_or(0), vector: 1, ..Details::default() };
            }
        };
        let info = Info::new(id);
        let extensions = info.extensions().unwrap_or_default();
        // Other drivers may mean something else by these numbers.
        let nvidia = extensions.contains("cl_nv_device_attribute_query");
        let lockstep = match () {
            () if nvidia => get_device_info(id, CL_DEVICE_WARP_SIZE_NV).ok().map(u32::from),
            () if extensions.contains("cl_amd_device_attribute_query") => {
                info.wavefront_width_amd().ok()
            }
            () => None,
        };
        let registers = get_device_info(id, CL_DEVICE_REGISTERS_PER_BLOCK_NV);
        let registers = registers.ok().map(u32::from);
        Details {
            clock_mhz: info.max_clock_frequency().unwrap_or(0),
            cache: info.global_mem_cache_size().unwrap_or(0),
            lockstep: lockstep.filter(|width| *width > 0),
            vector: info.native_vector_width_float().unwrap_or(1).max(1),
            line: info.global_mem_cacheline_size().unwrap_or(0),
            registers: if nvidia { registers.filter(|n| *n > 0) } else { None },
        }
    }
}
