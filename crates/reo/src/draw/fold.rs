//! Components of a connector as boxes with their ports.

use indexmap::IndexMap;

use crate::connector::{Channel, Connector};

/// The same connector, in whose circuit each component that the text uses, and does not build in,
/// is one channel called `NAME.NUMBER`: its ends are those of its parts at nodes outside, and at
/// nodes that the environment sees.
pub fn folded(connector: &Connector) -> Connector {
    let seen =
        |node: &str| connector.interface.iter().any(|name| connector.symbols.word(name.0) == node);
    let mut circuit: IndexMap<String, Channel> = IndexMap::new();
    for (k, channel) in connector.circuit.iter().enumerate() {
        let component = &channel.within;
        if component.is_empty() {
            circuit.insert(k.to_string(), channel.clone());
            continue;
        }
        let inside = format!("{component}/");
        let part = circuit.entry(component.clone()).or_default();
        part.kind.clone_from(component);
        for (end, name) in channel.ends.iter().zip(&channel.names) {
            let inner = end.node.starts_with(&inside) && !seen(&end.node);
            let there = part.ends.iter().zip(&part.names).any(|known| known == (end, name));
            if !inner && !there {
                part.ends.push(end.clone());
                part.names.push(*name);
            }
        }
    }
    Connector { circuit: circuit.into_values().collect(), ..connector.clone() }
}
