/**
 * The sign-in provider of a session; null for a password. No foreign key: a session keeps the id of a deleted provider.
 */
export default `
alter table service.session add column provider_id uuid;
`
