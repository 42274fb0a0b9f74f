/** A kiosk as older systems keep one, written so that both databases take it: fixed lengths, an enum, and a view. */
export function kiosk(frequency: string): readonly string[] {
  return [
    'create table kiosk_country (code char(6) not null primary key, name char(20) not null)',
    `create table kiosk_paper (id int not null primary key, title varchar(40) not null, country_code char(6) not null,
      frequency ${frequency} not null default 'daily', constraint kiosk_paper_country foreign key (country_code) references kiosk_country (code))`,
    `insert into kiosk_country values ('DE', 'Deutschland'), ('NL', 'Nederland')`,
    `insert into kiosk_paper (id, title, country_code) values (1, 'Abendblatt', 'DE'), (2, 'De Courant', 'NL')`,
    'create view kiosk_shelf as select id, title from kiosk_paper',
  ]
}
