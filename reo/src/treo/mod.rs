//! Reading Treo, the textual language of Reo connectors.
