/** The time of the last telemetry post, and the random name it is posted under, which has no other use. */
export default `
create table service.telemetry (
  "only" boolean primary key default true check ("only"),
  id uuid not null default gen_random_uuid(),
  posted_at timestamptz not null default '-infinity'
);
insert into service.telemetry default values;
`
