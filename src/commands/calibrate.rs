//! `tickbound calibrate`.

use super::exit::{CliError, Exit, input};
use super::output::{Outputs, save, say, say_folded};
use super::progress::Progress;
use super::stop::{self, Stops};
use tickbound_model::{Platform, Resources, platforms};

use tickbound_device::{self, Device, DeviceChoice, Picked, Session};
use tickbound_measure::calibrate::{CalibrateError, CalibrateOptions, OpenCl, calibrate, today};
use tickbound_report::calibrated;

/// Arguments of `calibrate`.
#[derive(Debug, clap::Args)]
pub struct CalibrateArgs {
    /// The device: opencl, or opencl:N as `tickbound devices` lists them
    #[arg(long, value_name = "DEVICE", default_value = "opencl")]
    device: String,
    /// What the platform is called [default: the device's name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Take what is not measured from this platform: the name of a shipped one, or the path of a
    /// file
    #[arg(long, value_name = "PLATFORM")]
    like: Option<String>,
    /// Write the platform file
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// Print the platform file instead of the table
    #[arg(long)]
    json: bool,
    /// Fewer repetitions and a smaller buffer: a few seconds
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    stops: Stops,
}

pub(super) fn run(args: &CalibrateArgs) -> Result<Exit, CliError> {
    args.stops.watched()?;
    Outputs::default().file("--output", args.output.as_ref()).check(&[])?;
    let (choice, like) = (args.choice()?, args.like()?);
    let listing = tickbound_device::list();
    let picked = listing.pick(choice).map_err(input)?;
    let device = match picked {
        Picked::Device(device) => device,
        Picked::Cpu => {
            let text = "--device cpu: prices are measured through OpenCL; write opencl or opencl:N";
            return Err(CliError::Input(text.into()));
        }
        Picked::Absent(why) => return Err(CliError::Input(why)),
    };
    match args.measure(device, like.as_ref()) {
        Ok(()) => Ok(Exit::Done),
        Err(Stopped::Interrupted) => {
            error!("tickbound: {}", stopped());
            Ok(Exit::Nothing)
        }
        Err(Stopped::Failed(e)) => Err(e),
    }
}

/// What is printed at a stop.
fn stopped() -> String {
    stop::reason().map_or_else(
        || CalibrateError::Interrupted.to_string(),
        |why| format!("{why}; nothing was written"),
    )
}

/// Why there is no platform.
enum Stopped {
    Interrupted,
    Failed(CliError),
}

impl From<CliError> for Stopped {
    fn from(e: CliError) -> Stopped {
        Stopped::Failed(e)
    }
}

impl From<CalibrateError> for Stopped {
    fn from(fault: CalibrateError) -> Stopped {
        match fault {
            CalibrateError::Interrupted => Stopped::Interrupted,
            fault => Stopped::Failed(CliError::Input(fault.to_string())),
        }
    }
}

impl CalibrateArgs {
    fn choice(&self) -> Result<DeviceChoice, CliError> {
        self.device.parse().map_err(|e: tickbound_device::DeviceChoiceError| {
            CliError::Input(format!("--device: {e}"))
        })
    }

    /// The platform that gives what is not measured.
    fn like(&self) -> Result<Option<Platform>, CliError> {
        let Some(name) = &self.like else { return Ok(None) };
        let model = |e: tickbound_model::ModelError| CliError::Input(format!("--like: {e}"));
        let platform = platforms::find(name).and_then(|json| Platform::from_json(name, &json));
        let platform = platform.map_err(model)?;
        // The width of a warp may be that of `warps`.
        let resources = Resources { warp_width: None, ..platform.resources() };
        if resources == Resources::default() {
            let text = format!(
                "--like: {name} has no `resources`, the part that can be taken; `tickbound \
                 platforms` lists those \
                 that come along"
            );
            return Err(CliError::Input(text));
        }
        Ok(Some(platform))
    }

    fn measure(&self, device: &Device, like: Option<&Platform>) -> Result<(), Stopped> {
        stop::quiet();
        stop::on_forced_end(|| error!("tickbound: {}", stopped()));
        let interrupt = stop::flag();
        let options =
            if self.quick { CalibrateOptions::quick() } else { CalibrateOptions::thorough() };
        let progress = Progress::new(&device.name);
        progress.say("compiling".to_owned());
        let session = Session::open(device).map_err(CalibrateError::from)?;
        let mut runner = OpenCl::new(&session)?;
        let facts = OpenCl::facts(device);
        let mut show = |what: &str| progress.say(what.to_owned());
        let mut found = calibrate(&mut runner, &facts, &options, interrupt, &mut show)?;
        if let Some(platform) = like {
            found.like(platform);
        }
        drop(progress);
        let name = self.name.as_deref().unwrap_or(&device.name);
        let file = format!("{:#}\n", found.platform(name, &today()));
        let text = if self.json { file.clone() } else { calibrated::words(&found) };
        if let Some(path) = &self.output {
            save(path, &file)?;
        }
        if self.json {
            say(&text)?
        } else {
            say_folded(&text)?
        };
        if let (Some(path), false) = (&self.output, self.json) {
            let next = format!("`tickbound tune PROBLEM --platform {}`", as_option(path));
            say_folded(&format!("\nwritten: {path}; next: {next}\n"))?;
        }
        Ok(())
    }
}

/// How `--platform` takes the path for a file and not for a name.
fn as_option(path: &str) -> String {
    match path.contains('/') || path.to_lowercase().ends_with(".json") {
        true => path.to_owned(),
        false => format!("./{path}"),
    }
}
