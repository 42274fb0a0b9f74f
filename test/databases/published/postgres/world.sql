-- World, countries and their cities. Origin: the dbsamples of pgFoundry, BSD licence; the structure written down from
-- memory, without its data; tables may be missing.

create table city (id integer not null, name text not null, countrycode character(3) not null, district text not null, population integer not null);
create table country (
  code character(3) not null,
  name text not null,
  continent text not null,
  region text not null,
  surfacearea real not null,
  indepyear smallint,
  population integer not null,
  lifeexpectancy real,
  gnp numeric(10,2),
  gnpold numeric(10,2),
  localname text not null,
  governmentform text not null,
  headofstate text,
  capital integer,
  code2 character(2) not null,
  constraint country_continent_check check (continent = 'Asia'::text or continent = 'Europe'::text or continent = 'North America'::text
    or continent = 'Africa'::text or continent = 'Oceania'::text or continent = 'Antarctica'::text or continent = 'South America'::text)
);
create table countrylanguage (countrycode character(3) not null, language text not null, isofficial boolean not null, percentage real not null);
alter table only city add constraint city_pkey primary key (id);
alter table only country add constraint country_pkey primary key (code);
alter table only countrylanguage add constraint countrylanguage_pkey primary key (countrycode, language);
alter table only country add constraint country_capital_fkey foreign key (capital) references city(id);
alter table only countrylanguage add constraint countrylanguage_countrycode_fkey foreign key (countrycode) references country(code);
