/**
 * The digest of the token in an invitation's mail, which proves that the mail is read; the existing column is for the
 * token in the response. Of existing accounts, those of the set-up count as proven: made by bootstrap or the
 * environment according to the audit log, or, where the log no longer tells, the first account, if it is an
 * administrator without an invitation.
 */
export default `
alter table service.invitation add column mail_token_hash text unique;

update service."user" u set email_proven_at = now()
where u.email_proven_at is null and not u.is_service and (
  exists (
    select 1 from service.audit_entry e
    where e.action = 'user.create.v1' and e.target_id = u.id and e.payload @> '{"isAdministrator": true}')
  or u.is_administrator
    and not exists (select 1 from service."user" o where not o.is_service and o.created_at < u.created_at)
    and not exists (
      select 1 from service.audit_entry e where e.action = 'invitation.accept.v1' and e.actor_id = u.id));
`
