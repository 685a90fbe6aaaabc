// Whether a label fulfils a clause: a pair of names that must fire and names that must not.
inline bool holds(ulong label, global const ulong *clauses, uint count)
{
    for (uint at = 0; at < count; ++at)
        if ((label & clauses[2 * at]) == clauses[2 * at] && (label & clauses[2 * at + 1]) == 0)
            return true;
    return false;
}
