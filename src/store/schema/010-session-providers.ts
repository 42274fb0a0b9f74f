/**
 * The provider that somebody signed in by, where it was not the password. Without a reference: a session goes on knowing that
 * its provider is gone.
 */
export default `
alter table service.session add column provider_id uuid;
`
