//! How devices are picked: `cpu`, `opencl`, `opencl:N`, `opencl:all`, `cuda`, or `cuda:N`.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::{Device, DeviceKind, Interface, Listing, list, list_cuda};

/// What a user chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The processors, without OpenCL.
    Cpu,
    /// The best OpenCL device: the first graphics processor, else the first of any kind.
    OpenCl,
    /// The OpenCL device with this number.
    Number(usize),
    /// All OpenCL devices together.
    All,
    /// The CUDA device with this number; 0 is also written without it.
    Cuda(usize),
}

/// Why a choice cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DeviceChoiceError {
    /// It is no choice.
    #[error(
        "`{0}` is no device; give cpu, opencl, opencl:N, opencl:all, cuda, or cuda:N (`tickbound \
         devices` lists them)"
    )]
    Text(String),
    /// One device is expected, the text states all.
    #[error(
        "opencl:all is for products in blocks, `reo compose --mode dense --stream`; one device is \
         wanted here"
    )]
    Several,
    /// An OpenCL device is expected.
    #[error(
        "a CUDA device runs kernels in CUDA, with `tickbound measure`; an OpenCL device is wanted \
         here"
    )]
    Cuda,
    /// There is no device with this number.
    #[error(
        "there is no {} device {number}; there are {devices}, numbered from 0 (`tickbound devices` \
         lists them)", interface.name()
    )]
    Number {
        /// What was listed.
        interface: Interface,
        /// The number in the request.
        number: usize,
        /// How many there are.
        devices: usize,
    },
}

/// The devices of a choice on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Picked<'a> {
    /// The processors were requested.
    Cpu,
    /// This device.
    Device(&'a Device),
    /// Any device was requested, and there is none: why, in one line.
    Absent(String),
}

impl FromStr for DeviceChoice {
    type Err = DeviceChoiceError;

    fn from_str(text: &str) -> Result<DeviceChoice, DeviceChoiceError> {
        let fault = || DeviceChoiceError::Text(text.to_owned());
        match text.split_once(':') {
            None if text == "cpu" => Ok(DeviceChoice::Cpu),
            None if text == "opencl" => Ok(DeviceChoice::OpenCl),
            None if text == "cuda" => Ok(DeviceChoice::Cuda(0)),
            Some(("cuda", number)) => number.parse().map(DeviceChoice::Cuda).map_err(|_| fault()),
            Some(("opencl", "all")) => Ok(DeviceChoice::All),
            Some(("opencl", number)) => {
                number.parse().map(DeviceChoice::Number).map_err(|_| fault())
            }
            _ => Err(fault()),
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceChoice::Cpu => f.write_str("cpu"),
            DeviceChoice::OpenCl => f.write_str("opencl"),
            DeviceChoice::Number(number) => write!(f, "opencl:{number}"),
            DeviceChoice::All => f.write_str("opencl:all"),
            DeviceChoice::Cuda(0) => f.write_str("cuda"),
            DeviceChoice::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}

impl DeviceChoice {
    /// What the devices of the choice are used through: OpenCL unless it names CUDA.
    pub fn interface(self) -> Interface {
        match self {
            DeviceChoice::Cuda(_) => Interface::Cuda,
            _ => Interface::OpenCl,
        }
    }

    /// The devices that the choice is among.
    pub fn listing(self) -> Listing {
        match self.interface() {
            Interface::OpenCl => list(),
            Interface::Cuda => list_cuda(),
        }
    }
}

impl Listing {
    /// The device of a choice of one among those [listed](DeviceChoice::listing) for it.
    ///
    /// # Errors
    /// A number that no device has, or all devices.
    pub fn pick(&self, choice: DeviceChoice) -> Result<Picked<'_>, DeviceChoiceError> {
        let (interface, devices) = (self.interface, self.devices.len());
        let absent = || Picked::Absent(self.absent().unwrap_or_default());
        match choice {
            DeviceChoice::Cpu => Ok(Picked::Cpu),
            DeviceChoice::All => Err(DeviceChoiceError::Several),
            DeviceChoice::Cuda(_) if interface == Interface::OpenCl => Err(DeviceChoiceError::Cuda),
            DeviceChoice::Cuda(_) if devices == 0 => Ok(absent()),
            DeviceChoice::Number(number) | DeviceChoice::Cuda(number) => {
                let device = self.devices.get(number);
                let missing = DeviceChoiceError::Number { interface, number, devices };
                device.map(Picked::Device).ok_or(missing)
            }
            DeviceChoice::OpenCl => {
                let gpu = self.devices.iter().find(|device| device.kind == DeviceKind::Gpu);
                let best = gpu.or(self.devices.first());
                Ok(best.map_or_else(absent, Picked::Device))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        let table = [
            ("cpu", Some(DeviceChoice::Cpu)),
            ("opencl", Some(DeviceChoice::OpenCl)),
            ("opencl:0", Some(DeviceChoice::Number(0))),
            ("opencl:12", Some(DeviceChoice::Number(12))),
            ("cuda", Some(DeviceChoice::Cuda(0))),
            ("cuda:1", Some(DeviceChoice::Cuda(1))),
            ("cuda:", None),
            ("cuda:all", None),
            ("opencl:", None),
            ("opencl:x", None),
            ("cpu:0", None),
            ("gpu", None),
            ("", None),
        ];
        for (text, choice) in table {
            assert_eq!(text.parse().ok(), choice, "{text}");
            assert!(choice.is_none_or(|c| c.to_string() == text), "{text}");
        }
    }

    #[test]
    fn without_devices() {
        let notes = || vec!["no driver has one".into()];
        let interface = Interface::OpenCl;
        let none = Listing { interface, devices: Vec::new(), notes: notes() };
        assert_eq!(none.pick(DeviceChoice::Cpu), Ok(Picked::Cpu));
        let absent = "no OpenCL device (no driver has one)".to_owned();
        assert_eq!(none.pick(DeviceChoice::OpenCl), Ok(Picked::Absent(absent)));
        let missing = DeviceChoiceError::Number { interface, number: 1, devices: 0 };
        assert_eq!(none.pick(DeviceChoice::Number(1)), Err(missing));
        assert_eq!(none.pick(DeviceChoice::Cuda(1)), Err(DeviceChoiceError::Cuda));
        let none = Listing { interface: Interface::Cuda, devices: Vec::new(), notes: notes() };
        let absent = "no CUDA device (no driver has one)".to_owned();
        assert_eq!(none.pick(DeviceChoice::Cuda(1)), Ok(Picked::Absent(absent)));
    }
}
