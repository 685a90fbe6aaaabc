//! Labs that work side by side, each in its own thread.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;

use crate::error::SupervisorError;
use crate::supervisor::Supervisor;
use crate::timing_run::Stage;
use crate::worker::{Request, WorkerAnswer};

/// Labs that work side by side. Each does one request at a time.
#[derive(Debug)]
pub(super) struct Pool {
    labs: Vec<Sender<Request>>,
    heard: Receiver<(usize, Said)>,
}

/// A message of a lab.
#[derive(Debug)]
pub(super) enum Said {
    /// What its request is at.
    Stage(Stage),
    /// What came of it; the lab takes the next one.
    Answer(Result<WorkerAnswer, SupervisorError>),
}

impl Pool {
    /// Gives each lab a thread, which ends when the pool is dropped and its request is done.
    pub(super) fn new<'scope, 'env: 'scope>(
        scope: &'scope Scope<'scope, 'env>,
        labs: Vec<Supervisor<'env>>,
    ) -> Pool {
        let (say, heard) = channel();
        let labs = labs.into_iter().enumerate().map(|(number, mut lab)| {
            let (send, requests) = channel::<Request>();
            let say = say.clone();
            scope.spawn(move || {
                for request in requests {
                    // Nothing is heard after the pool was dropped.
                    let mut stage = |stage| drop(say.send((number, Said::Stage(stage))));
                    let answer = lab.ask(&request, &mut stage);
                    if say.send((number, Said::Answer(answer))).is_err() {
                        break;
                    }
                }
            });
            send
        });
        Pool { labs: labs.collect(), heard }
    }

    /// Gives a request to a lab.
    ///
    /// # Errors
    /// The lab's thread has ended.
    pub(super) fn give(&self, lab: usize, request: Request) -> Result<(), SupervisorError> {
        let given = self.labs.get(lab).is_some_and(|lab| lab.send(request).is_ok());
        if given { Ok(()) } else { Err(ended()) }
    }

    /// Waits for a message of a lab, and returns the lab's number with it. One must be at work.
    ///
    /// # Errors
    /// All threads have ended.
    pub(super) fn hear(&self) -> Result<(usize, Said), SupervisorError> {
        self.heard.recv().map_err(|_| ended())
    }
}

fn ended() -> SupervisorError {
    SupervisorError::Process("a thread that waits for it has ended".to_owned())
}
