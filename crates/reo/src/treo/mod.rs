//! Treo, the text language of Reo: read, put together.
//!
//! A component has parameters, an interface of nodes and a body. A composite body uses other
//! components; sizes that are not written follow from the nodes at which a component is used. An
//! atom is rules (`#RBA`), an automaton (`#WA`, `#SCA`) or a primitive (`#PR`); of several the
//! first is taken. Foreign code (`#JAVA`, `#PROMELA`, `#MAUDE`, `#C`) is left to the environment:
//! the nodes of such an atom become part of the interface, with a note.
//!
//! A component is looked for in the file, among its imports (`library.rs`) and among
//! the built-in ones (`catalog.rs`). Inner nodes and cells are called after the uses that lead to
//! them: `seqc.1/x[2]` is the node `x[2]` of the first `seqc`.
//!
//! ```
//! use tickbound_reo::syntax::Source;
//! use tickbound_reo::treo::{TreoRequest, Shelf, connector};
//!
//! let text = "
//!     import reo.sync;
//!     import reo.syncdrain;
//!     import reo.fifo1;
//!
//!     // Lets data pass from p[1], p[2], ... in turn.
//!     alternator(p[1..n]?, x[1]!) {
//!       sync(p[1], x[1])
//!       { syncdrain(p[i-1], p[i]) sync(p[i], x[i]) fifo1(x[i], x[i-1]) | i : <2..n> }
//!     }";
//! let source = Source::new("alternator.treo", text);
//! let error = connector(&source, &Shelf::default(), &TreoRequest::default());
//! let error = error.map(|_| ()).map_err(|e| e.to_string());
//! let expected = "alternator.treo:7:5: `n` without a value; give --set n=VALUE";
//! assert_eq!(error, Err(expected.to_owned()));
//!
//! let request = TreoRequest::default().set("n", "3");
//! let alternator = connector(&source, &Shelf::default(), &request)?;
//! assert_eq!(alternator.interface.len(), 4); // p[1], p[2], p[3] and x[1]
//! assert_eq!(alternator.parts.len(), 9); // 7 channels, and mergers at x[1] and x[2]
//! # Ok::<(), tickbound_reo::treo::TreoError>(())
//! ```

mod ast;
mod atom;
mod error;
mod expand;
mod files;
mod library;
mod parse;
mod request;

pub use error::{TreoError, TreoResult};
pub use expand::connector;
pub use library::{Library, Shelf};
pub use parse::file as parse;
pub use request::TreoRequest;
