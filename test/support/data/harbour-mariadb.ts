/** The same harbour as in MariaDB: 33 tables and 3 views in three databases. */
export const harbourSchemas = ['crew', 'Cargo & Größen', 'port'] as const

/** One statement each. */
export const harbour: readonly string[] = `
create database crew character set utf8mb4;
create database \`Cargo & Größen\` character set utf8mb4;
create database port character set utf8mb4;

create table crew.country (code char(2) primary key, name varchar(80) not null unique, population bigint unsigned, flag blob);
create table crew.city (id int auto_increment primary key, country_code char(2) not null, name varchar(80) not null, unique (country_code, name), constraint city_country foreign key (country_code) references crew.country (code) on update cascade);
create table crew.person (
  id bigint unsigned auto_increment primary key,
  full_name varchar(100) not null,
  email varchar(120) not null default 'nobody@example.com',
  rank enum('cadet', 'mate', 'captain') not null default 'cadet',
  duties set('deck', 'engine'),
  born date,
  city_id int,
  mentor_id bigint unsigned,
  name_length int generated always as (char_length(full_name)) stored,
  name_twice int as (char_length(full_name) * 2) virtual,
  settings json not null default '{}',
  created_at timestamp(6) not null default current_timestamp(6),
  changed_at datetime default null on update current_timestamp,
  constraint person_city foreign key (city_id) references crew.city (id) on delete set null,
  constraint person_mentor foreign key (mentor_id) references crew.person (id) on delete set null,
  check (full_name <> ''));
create index person_by_city on crew.person (city_id, born);
create index person_by_name on crew.person (full_name(10));
create fulltext index person_text on crew.person (full_name);
create table crew.passport (person_id bigint unsigned primary key, number varchar(20) not null unique, \`valid until\` date, foreign key (person_id) references crew.person (id) on delete cascade);
create table crew.skill (id smallint auto_increment primary key, \`Name\` text not null);
create table crew.person_skill (person_id bigint unsigned, skill_id smallint, level tinyint not null default 1, primary key (person_id, skill_id), foreign key (person_id) references crew.person (id) on delete cascade, foreign key (skill_id) references crew.skill (id));
create table crew.shift (id uuid primary key default uuid(), person_id bigint unsigned not null references crew.person (id), pause time);
create table crew.\`order\` (\`select\` int primary key, \`from\` text, \`группа\` text, \`日本\` int, \`2nd\` boolean, \`__proto__\` text, \`constructor\` text);
create table crew.contract (person_id bigint unsigned not null, started date not null, salary decimal(10, 2) not null, primary key (person_id, started), foreign key (person_id) references crew.person (id));
create table crew.payment (id bigint auto_increment primary key, person_id bigint unsigned not null, started date not null, amount decimal(65, 30) not null, foreign key (person_id, started) references crew.contract (person_id, started) on delete cascade on update cascade);
create table crew.note (id int, body longtext);

create table port.harbour (id int auto_increment primary key, name text not null, place point, area polygon, depth decimal(12, 3), address inet6, seen_at datetime(3), opens time, founded year, code int zerofill);
create table port.berth (harbour_id int not null, no int not null, length float, width double, primary key (harbour_id, no), foreign key (harbour_id) references port.harbour (id) on delete cascade);
create table port.crane (id int primary key, harbour_id int not null, berth_no int, tons decimal(6, 1), foreign key (harbour_id, berth_no) references port.berth (harbour_id, no));
create table port.ship (id uuid primary key, name varchar(80) not null, imo int unique, sister_id uuid unique, home_id int, flag_code char(2), bits bit(4), is_new bit(1), foreign key (sister_id) references port.ship (id), foreign key (home_id) references port.harbour (id), foreign key (flag_code) references crew.country (code));
create table port.voyage (id bigint auto_increment primary key, ship_id uuid not null, from_id int not null, to_id int not null, captain_id bigint unsigned, planned boolean not null default true, foreign key (ship_id) references port.ship (id), foreign key (from_id) references port.harbour (id), foreign key (to_id) references port.harbour (id), foreign key (captain_id) references crew.person (id));
create table port.visit (ship_id uuid not null, harbour_id int not null, no int not null, at datetime(6) not null, primary key (ship_id, at), foreign key (ship_id) references port.ship (id), foreign key (harbour_id, no) references port.berth (harbour_id, no));
create table port.log (at datetime not null, voyage_id bigint, line text, primary key (at)) partition by range columns (at) (partition old values less than ('2025-01-01'), partition new values less than (maxvalue));
create table port.tide (at timestamp null, metres float unsigned);
create table port.weather (id int primary key, kind int, index by_kind (kind));
create table port.storm (id int primary key, \`force\` tinyint unsigned) with system versioning;
create table port.cache (\`key\` varchar(100) primary key, value json check (json_length(value) > 0));
create sequence port.numbers;

create table \`Cargo & Größen\`.\`Größe\` (\`Größen-Nr.\` int primary key, \`Breite (m)\` decimal(5, 2), \`Höhe\` decimal(5, 2));
create table \`Cargo & Größen\`.kind (id int primary key, parent_id int, title varchar(50) not null unique, foreign key (parent_id) references \`Cargo & Größen\`.kind (id));
create table \`Cargo & Größen\`.\`Container\` (\`ContainerId\` uuid primary key, \`SizeId\` int, \`KindID\` int, \`ownerId\` bigint unsigned, hash binary(4), blob1 mediumblob, small mediumint unsigned, foreign key (\`SizeId\`) references \`Cargo & Größen\`.\`Größe\` (\`Größen-Nr.\`), foreign key (\`KindID\`) references \`Cargo & Größen\`.kind (id), foreign key (\`ownerId\`) references crew.person (id));
create table \`Cargo & Größen\`.\`load\` (container_id uuid, voyage_id bigint, loaded_at timestamp null, primary key (container_id, voyage_id), foreign key (container_id) references \`Cargo & Größen\`.\`Container\` (\`ContainerId\`), foreign key (voyage_id) references port.voyage (id));
create table \`Cargo & Größen\`.item (id bigint auto_increment, container_id uuid, voyage_id bigint, title varchar(200) not null, price decimal(20, 4), primary key (id), constraint item_load foreign key (container_id, voyage_id) references \`Cargo & Größen\`.\`load\` (container_id, voyage_id) on delete cascade);
create table \`Cargo & Größen\`.item_photo (item_id bigint primary key, photo longblob not null, foreign key (item_id) references \`Cargo & Größen\`.item (id));
create table \`Cargo & Größen\`.\`a\`\`b\` (\`x\`\`y\` int primary key, \`it's\` text, \`semi;colon\` text, \`dot.ted\` text, \`quo"te\` text, \`back\\slash\` text);
create table \`Cargo & Größen\`.customs (id int primary key, item_id bigint, paid boolean default false, unique (item_id), foreign key (item_id) references \`Cargo & Größen\`.item (id) on delete set null);
create table \`Cargo & Größen\`.latin (id int primary key, name varchar(40) character set latin1, fixed char(36) character set ascii collate ascii_bin);
create table \`Cargo & Größen\`.wide (id tinyint primary key, a smallint unsigned, b int unsigned, c tinyint unsigned, d char(3));

create view crew.captains as select id, full_name, rank from crew.person where rank = 'captain';
create view port.fleet as select s.*, h.name as home from port.ship s left join port.harbour h on h.id = s.home_id;
create view \`Cargo & Größen\`.\`Übersicht\` as select 1 as eins;

insert into crew.country values ('DE', 'Deutschland', 84000000, x'00ff'), ('NL', 'Nederland', 17000000, null);
insert into crew.city (country_code, name) values ('DE', 'Hamburg'), ('NL', 'Rotterdam');
insert into crew.person (full_name, email, rank, duties, city_id, mentor_id) values ('Ada', 'ada@example.com', 'captain', 'deck,engine', 1, null), ('Bo', 'bo@example.com', 'mate', null, 2, 1);
insert into crew.passport values (1, 'C01', '2030-01-01');
insert into crew.skill (\`Name\`) values ('knots');
insert into crew.person_skill values (1, 1, 3), (2, 1, 1);
insert into crew.\`order\` values (1, 'a', 'б', 3, true, 'p', 'c');
insert into crew.contract values (1, '2020-01-01', 3000.5);
insert into crew.payment (person_id, started, amount) values (1, '2020-01-01', 12345678901234567890.123);
insert into port.harbour (name, place, depth, address, founded, code) values ('Elbe', point(1, 2), 12.5, '::1', 1905, 42);
insert into port.berth values (1, 1, 200.5, 30);
insert into port.crane values (1, 1, 1, 40.5), (2, 1, null, null);
insert into port.ship values ('01900000-0000-7000-8000-000000000001', 'Emma', 1, null, 1, 'DE', b'1010', b'1'), ('01900000-0000-7000-8000-000000000002', 'Maersk', 2, '01900000-0000-7000-8000-000000000001', null, 'NL', null, null);
insert into port.voyage (ship_id, from_id, to_id, captain_id) values ('01900000-0000-7000-8000-000000000001', 1, 1, 1);
insert into port.visit values ('01900000-0000-7000-8000-000000000001', 1, 1, '2026-01-01');
insert into port.log values ('2024-01-01', 1, 'old'), ('2026-01-01', 1, 'new');
insert into \`Cargo & Größen\`.\`Größe\` values (1, 2.44, 2.59);
insert into \`Cargo & Größen\`.kind values (1, null, 'dry'), (2, 1, 'grain');
insert into \`Cargo & Größen\`.\`Container\` values (uuid(), 1, 2, 1, 'hash', 'blob', 7);
insert into \`Cargo & Größen\`.\`load\` select \`ContainerId\`, 1, now() from \`Cargo & Größen\`.\`Container\`;
insert into \`Cargo & Größen\`.item (container_id, voyage_id, title, price) select container_id, voyage_id, 'rice', 1.5 from \`Cargo & Größen\`.\`load\`;
insert into \`Cargo & Größen\`.item_photo values (1, x'ff');
insert into \`Cargo & Größen\`.\`a\`\`b\` values (1, 'q', 's', 'd', '"', 'b');
insert into \`Cargo & Größen\`.wide values (1, 65535, 4294967295, 255, 'abc');
`
  .split(/;\n/)
  .map((text) => text.trim())
  .filter((text) => text !== '')
