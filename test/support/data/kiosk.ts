/** A kiosk as older systems keep one: texts of a fixed length, an enum, a view, and a trigger that refuses. */
export const postgresKiosk: readonly string[] = [
  `create type frequency as enum ('daily', 'weekly')`,
  ...tables('frequency'),
  `create function sold_out() returns trigger language plpgsql as 'begin raise exception ''sold out''; end'`,
  'create trigger sold_out before delete on kiosk_paper for each row execute function sold_out()',
]

export const mariadbKiosk: readonly string[] = [
  ...tables(`enum('daily', 'weekly')`),
  `create trigger sold_out before delete on kiosk_paper for each row signal sqlstate '45000' set message_text = 'sold out'`,
]

function tables(frequency: string): readonly string[] {
  return [
    'create table kiosk_country (code char(6) not null primary key, name char(20) not null)',
    `create table kiosk_paper (id int not null primary key, title varchar(40) not null, country_code char(6) not null,
      frequency ${frequency} not null default 'daily',
      constraint kiosk_paper_country foreign key (country_code) references kiosk_country (code))`,
    `insert into kiosk_country values ('DE', 'Deutschland'), ('NL', 'Nederland')`,
    `insert into kiosk_paper (id, title, country_code) values (1, 'Abendblatt', 'DE'), (2, 'De Courant', 'NL')`,
    'create view kiosk_shelf as select distinct id, title from kiosk_paper',
  ]
}
