-- Northwind, an importer of food. Origin: https://github.com/pthom/northwind_psql, MS-PL licence; the structure written
-- down from memory, without its data; tables may be missing.

create table categories (category_id smallint not null primary key, category_name character varying(15) not null, description text, picture bytea);
create table customer_demographics (customer_type_id character varying(5) not null primary key, customer_desc text);
create table customers (
  customer_id character varying(5) not null primary key,
  company_name character varying(40) not null,
  contact_name character varying(30),
  contact_title character varying(30),
  address character varying(60),
  city character varying(15),
  region character varying(15),
  postal_code character varying(10),
  country character varying(15),
  phone character varying(24),
  fax character varying(24)
);
create table customer_customer_demo (
  customer_id character varying(5) not null,
  customer_type_id character varying(5) not null,
  primary key (customer_id, customer_type_id),
  foreign key (customer_type_id) references customer_demographics,
  foreign key (customer_id) references customers
);
create table employees (
  employee_id smallint not null primary key,
  last_name character varying(20) not null,
  first_name character varying(10) not null,
  title character varying(30),
  title_of_courtesy character varying(25),
  birth_date date,
  hire_date date,
  address character varying(60),
  city character varying(15),
  region character varying(15),
  postal_code character varying(10),
  country character varying(15),
  home_phone character varying(24),
  extension character varying(4),
  photo bytea,
  notes text,
  reports_to smallint,
  photo_path character varying(255),
  foreign key (reports_to) references employees
);
create table suppliers (
  supplier_id smallint not null primary key,
  company_name character varying(40) not null,
  contact_name character varying(30),
  contact_title character varying(30),
  address character varying(60),
  city character varying(15),
  region character varying(15),
  postal_code character varying(10),
  country character varying(15),
  phone character varying(24),
  fax character varying(24),
  homepage text
);
create table products (
  product_id smallint not null primary key,
  product_name character varying(40) not null,
  supplier_id smallint,
  category_id smallint,
  quantity_per_unit character varying(20),
  unit_price real,
  units_in_stock smallint,
  units_on_order smallint,
  reorder_level smallint,
  discontinued integer not null,
  foreign key (category_id) references categories,
  foreign key (supplier_id) references suppliers
);
create table region (region_id smallint not null primary key, region_description character varying(60) not null);
create table shippers (shipper_id smallint not null primary key, company_name character varying(40) not null, phone character varying(24));
create table orders (
  order_id smallint not null primary key,
  customer_id character varying(5),
  employee_id smallint,
  order_date date,
  required_date date,
  shipped_date date,
  ship_via smallint,
  freight real,
  ship_name character varying(40),
  ship_address character varying(60),
  ship_city character varying(15),
  ship_region character varying(15),
  ship_postal_code character varying(10),
  ship_country character varying(15),
  foreign key (customer_id) references customers,
  foreign key (employee_id) references employees,
  foreign key (ship_via) references shippers
);
create table territories (
  territory_id character varying(20) not null primary key,
  territory_description character varying(60) not null,
  region_id smallint not null,
  foreign key (region_id) references region
);
create table employee_territories (
  employee_id smallint not null,
  territory_id character varying(20) not null,
  primary key (employee_id, territory_id),
  foreign key (territory_id) references territories,
  foreign key (employee_id) references employees
);
create table order_details (
  order_id smallint not null,
  product_id smallint not null,
  unit_price real not null,
  quantity smallint not null,
  discount real not null,
  primary key (order_id, product_id),
  foreign key (product_id) references products,
  foreign key (order_id) references orders
);
create table us_states (state_id smallint not null primary key, state_name character varying(100), state_abbr character varying(2), state_region character varying(50));
