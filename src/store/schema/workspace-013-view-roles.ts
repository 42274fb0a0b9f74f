/** A view is of a role of its own workspace: another one's is refused as one that there is not. */
export default `
create function {meta}.keep_view_role() returns trigger language plpgsql as $$ begin
  if new.role_id is not null and not exists (
    select 1 from service.role r join service.workspace w on w.id = r.workspace_id
    where r.id = new.role_id and 'service_' || w.api_name || '_meta' = tg_table_schema
  ) then raise exception 'there is no such role' using errcode = 'foreign_key_violation', table = 'view', constraint = 'view_role_id_fkey'; end if; --
  return new; --
end $$;
create trigger keep before insert or update of role_id on {meta}.view for each row execute function {meta}.keep_view_role();
`
