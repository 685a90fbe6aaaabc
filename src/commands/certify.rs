//! Certificates of least times.

use std::path::Path;

use tickbound_model::Problem;
use tickbound_model::verdict::Status;
use tickbound_solver::TuneResult;

use super::exit::CliError;
use super::stop;

/// Writes the certificate of a least time that is proved.
pub fn certify(problem: &Problem, result: &TuneResult, folder: &Path) -> Result<(), CliError> {
    let Some(best) = result.best.as_ref().filter(|_| result.status == Status::Optimal) else {
        note!("tickbound: no certificate: the least time is not proved");
        return Ok(());
    };
    let program = concat!("tickbound ", env!("CARGO_PKG_VERSION"));
    let optimum = (&best.configuration, best.time);
    let certificate =
        tickbound_certificate::write::certificate(program, problem, optimum, &stop::is_due)?;
    certificate.write(folder)?;
    let shown = folder.display();
    note!("tickbound: {shown} written; `tickbound check {shown}` checks it");
    Ok(())
}
