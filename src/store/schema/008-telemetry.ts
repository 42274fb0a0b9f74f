/** When telemetry was last posted, and the name that it is posted under: random, and used for nothing else. */
export default `
create table service.telemetry (
  "only" boolean primary key default true check ("only"),
  id uuid not null default gen_random_uuid(),
  posted_at timestamptz not null default '-infinity'
);
insert into service.telemetry default values;
`
