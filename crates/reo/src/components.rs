//! Strongly connected components of a graph.

/// The component of each of `n` nodes, and the nodes of each component: Tarjan's algorithm (1972)
/// without recursion. Edges lead from a component to itself or to one with a smaller number.
pub(crate) fn components(n: usize, onward: impl Fn(u32) -> Vec<u32>) -> (Vec<u32>, Vec<Vec<u32>>) {
    let (mut index, mut low) = (vec![u32::MAX; n], vec![0u32; n]);
    // Nodes that were entered and have no component yet.
    let mut stack = Vec::new();
    let (mut component, mut members) = (vec![u32::MAX; n], Vec::new());
    let mut counter = 0;
    for root in 0..n as u32 {
        let mut entered = (index[root as usize] == u32::MAX).then_some(root);
        let mut work: Vec<(u32, Vec<u32>)> = Vec::new();
        loop {
            if let Some(node) = entered.take() {
                (index[node as usize], low[node as usize]) = (counter, counter);
                counter += 1;
                stack.push(node);
                work.push((node, onward(node)));
            }
            let Some((node, left)) = work.last_mut() else { break };
            let s = *node as usize;
            if let Some(to) = left.pop() {
                let t = to as usize;
                if index[t] == u32::MAX {
                    entered = Some(to);
                } else if component[t] == u32::MAX {
                    low[s] = low[s].min(index[t]);
                }
                continue;
            }
            work.pop();
            if let Some((parent, _)) = work.last() {
                let p = *parent as usize;
                low[p] = low[p].min(low[s]);
            }
            if low[s] == index[s] {
                let mut all = Vec::new();
                while let Some(member) = stack.pop() {
                    component[member as usize] = members.len() as u32;
                    all.push(member);
                    if member as usize == s {
                        break;
                    }
                }
                members.push(all);
            }
        }
    }
    (component, members)
}
