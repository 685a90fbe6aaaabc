//! Images and samplers.
//!
//! An image has the texels of a buffer, which are copied into it and out of it: rows of four
//! components each, the rows of a plane and the planes in sequence.

use std::mem::ManuallyDrop;
use std::ptr;

use opencl3::command_queue::{enqueue_copy_buffer_to_image, enqueue_copy_image_to_buffer};
use opencl3::context::Context;
use opencl3::memory::{
    CL_FLOAT, CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE1D_BUFFER,
    CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D, CL_MEM_READ_WRITE,
    CL_RGBA, CL_SIGNED_INT8, CL_SIGNED_INT16, CL_SIGNED_INT32, CL_UNSIGNED_INT8, CL_UNSIGNED_INT16,
    CL_UNSIGNED_INT32, create_image, release_mem_object,
};
use opencl3::types::{cl_image_desc, cl_image_format, cl_mem};

use super::DeviceError;
use super::raw::Owned;
use super::session::{Buffer, Session};

/// What each of the four components of a texel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Component {
    /// A signed number of 1, 2 or 4 bytes.
    Int(usize),
    /// An unsigned number of 1, 2 or 4 bytes.
    Uint(usize),
    /// A `float`.
    Float,
}

impl Component {
    fn bytes(self) -> usize {
        match self {
            Component::Int(bytes) | Component::Uint(bytes) => bytes,
            Component::Float => 4,
        }
    }

    fn number(self) -> u32 {
        match self {
            Component::Int(1) => CL_SIGNED_INT8,
            Component::Int(2) => CL_SIGNED_INT16,
            Component::Int(_) => CL_SIGNED_INT32,
            Component::Uint(1) => CL_UNSIGNED_INT8,
            Component::Uint(2) => CL_UNSIGNED_INT16,
            Component::Uint(_) => CL_UNSIGNED_INT32,
            Component::Float => CL_FLOAT,
        }
    }
}

/// An image in the memory of a device.
#[derive(Debug)]
pub struct Image {
    pub(super) memory: Owned<cl_mem>,
    /// Texels, rows and planes; of an array the last is how many images there are.
    region: [usize; 3],
    /// On their way in and out: PoCL 3.1 copies nothing between parts of buffers and images. Of an
    /// `image1d_buffer_t` the texels themselves.
    texels: Buffer<u8>,
    is_buffer: bool,
}

/// How texels are found by coordinates.
#[derive(Debug)]
pub struct ImageSampler(pub(super) opencl3::memory::Sampler);

/// The constant in `cl.h` of an image type, and its dimensions; `None` for another type.
fn kind(type_name: &str) -> Option<(u32, usize)> {
    Some(match type_name.trim_end_matches("_t") {
        "image1d" => (CL_MEM_OBJECT_IMAGE1D, 1),
        "image1d_buffer" => (CL_MEM_OBJECT_IMAGE1D_BUFFER, 1),
        "image1d_array" => (CL_MEM_OBJECT_IMAGE1D_ARRAY, 2),
        "image2d" => (CL_MEM_OBJECT_IMAGE2D, 2),
        "image2d_array" => (CL_MEM_OBJECT_IMAGE2D_ARRAY, 3),
        "image3d" => (CL_MEM_OBJECT_IMAGE3D, 3),
        _ => return None,
    })
}

impl Session {
    /// An image for a kernel's parameter of this type, such as `image2d_t`, with as many texels in
    /// each dimension; of an array the last is how many images there are.
    ///
    /// # Errors
    /// No image has such a type or as many dimensions, or the driver refuses.
    pub fn image(
        &self,
        type_name: &str,
        sizes: &[usize],
        component: Component,
    ) -> Result<Image, DeviceError> {
        let size = |d: usize| sizes.get(d).copied().unwrap_or(1);
        let given = sizes.len();
        let known = kind(type_name).filter(|(_, dimensions)| *dimensions == given);
        let Some((kind, dimensions)) = known else {
            return Err(DeviceError::Image { type_name: type_name.to_owned(), given });
        };
        let bytes = sizes.iter().fold(4 * component.bytes(), |all, n| all.saturating_mul(*n));
        let texels = self.buffer(bytes)?;
        let is_array = type_name.contains("array");
        let is_buffer = kind == CL_MEM_OBJECT_IMAGE1D_BUFFER;
        let format = cl_image_format {
            image_channel_order: CL_RGBA,
            image_channel_data_type: component.number(),
        };
        let description = cl_image_desc {
            image_type: kind,
            image_width: size(0),
            image_height: if kind == CL_MEM_OBJECT_IMAGE1D_ARRAY { 0 } else { size(1) },
            image_depth: if is_array { 0 } else { size(2) },
            image_array_size: if is_array { size(dimensions - 1) } else { 0 },
            image_row_pitch: 0,
            image_slice_pitch: 0,
            num_mip_levels: 0,
            num_samples: 0,
            buffer: if is_buffer { texels.memory.handle() } else { ptr::null_mut() },
        };
        let context = self.opencl()?.context.get();
        // SAFETY: the context is valid, both structures are those of OpenCL and live until the call
        // has ended, no memory of the host is named, and the buffer has all texels.
        let memory = unsafe {
            create_image(context, CL_MEM_READ_WRITE, &format, &description, ptr::null_mut())
        };
        let memory = memory.map_err(self.fail("clCreateImage"))?;
        // SAFETY: the image is new, and nothing else releases it.
        let memory = unsafe { Owned::new(memory, release_mem_object) };
        Ok(Image { memory, region: [size(0), size(1), size(2)], texels, is_buffer })
    }

    /// Copies the texels of a buffer into an image, and waits.
    ///
    /// # Errors
    /// The buffer is longer, or the device failed.
    pub fn copy_to_image(&self, from: &Buffer<u8>, to: &Image) -> Result<(), DeviceError> {
        self.copy(from, &to.texels)?;
        if to.is_buffer {
            return Ok(());
        }
        let (queue, origin) = (self.opencl()?.queue.get(), [0_usize; 3]);
        // SAFETY: the handles are valid, origin and region have three numbers each, the region is
        // the whole image, and the buffer has as many texels.
        let event = unsafe {
            let (origin, region) = (origin.as_ptr(), to.region.as_ptr());
            let (from, to) = (to.texels.memory.handle(), to.memory.get());
            enqueue_copy_buffer_to_image(queue, from, to, 0, origin, region, 0, ptr::null())
        };
        let event = event.map_err(self.fail("clEnqueueCopyBufferToImage"))?;
        self.wait(&self.event(event)).map(|_| ())
    }

    /// Copies the texels of an image into a buffer, and waits.
    ///
    /// # Errors
    /// The buffer is shorter, or the device failed.
    pub fn copy_from_image(&self, from: &Image, to: &Buffer<u8>) -> Result<(), DeviceError> {
        if !from.is_buffer {
            let (queue, origin) = (self.opencl()?.queue.get(), [0_usize; 3]);
            // SAFETY: as above.
            let event = unsafe {
                let (origin, region) = (origin.as_ptr(), from.region.as_ptr());
                let (from, to) = (from.memory.get(), from.texels.memory.handle());
                enqueue_copy_image_to_buffer(queue, from, to, origin, region, 0, 0, ptr::null())
            };
            let event = event.map_err(self.fail("clEnqueueCopyImageToBuffer"))?;
            self.wait(&self.event(event))?;
        }
        self.copy(&from.texels, to).map(|_| ())
    }

    /// A sampler by the bits that the constants of `sampler_t` have in OpenCL C, as clang's header
    /// `opencl-c-base.h` defines them: `CLK_NORMALIZED_COORDS_TRUE` is 1,
    /// `CLK_ADDRESS_CLAMP_TO_EDGE` 2, `CLK_ADDRESS_CLAMP` 4, `CLK_ADDRESS_REPEAT` 6,
    /// `CLK_ADDRESS_MIRRORED_REPEAT` 8 and `CLK_FILTER_LINEAR` 32.
    ///
    /// # Errors
    /// The driver refuses.
    pub fn sampler(&self, bits: u32) -> Result<ImageSampler, DeviceError> {
        // CL_ADDRESS_NONE and those after it; CL_FILTER_NEAREST, CL_FILTER_LINEAR.
        let addressing = 0x1130 + ((bits & 0xe) >> 1).min(4);
        let filter = 0x1140 + ((bits >> 5) & 1);
        // The session releases its context.
        let context = ManuallyDrop::new(Context::new(self.opencl()?.context.get(), &[]));
        let sampler = opencl3::memory::Sampler::create(&context, bits & 1, addressing, filter);
        sampler.map(ImageSampler).map_err(|error| self.fail("clCreateSampler")(error.0))
    }
}
