/**
 * The token of an invitation's mail, which proves that its mail is read; the one that was there is that of the answer. Of the
 * accounts from before, those of the set-up count as proven: made by bootstrap or the environment as the audit log tells, or,
 * where it has forgotten, the first one, if it is an administrator who did not come by invitation.
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
