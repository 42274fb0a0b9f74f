/** A many-to-many field is a relation field that leads through two others, `{nearId, farId}`; null for all before. */
export default `
alter table {meta}.single_relation_field add column through jsonb;
`
