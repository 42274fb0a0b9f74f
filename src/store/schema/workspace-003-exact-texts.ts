/** A column either treats different texts as equal or not; null no longer means that it does not. */
export default `
update {meta}.primitive_field set is_loose = false where is_loose is null;
alter table {meta}.primitive_field alter column is_loose set not null;
`
