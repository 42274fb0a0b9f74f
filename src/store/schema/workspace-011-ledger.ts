/** The schema of a source's ledger of writes, empty for that of its connection; null where it has none. */
export default `
alter table {meta}.data_source add column if not exists ledger_schema text;
`
