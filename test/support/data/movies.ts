/** Films and their directors out of the data package of the demo, as statements that both databases take. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

type Film = {
  readonly Title: string | null
  readonly Director: string | null
  readonly 'US Gross': number | null
  readonly 'IMDB Rating': number | null
}

const file = join(import.meta.dirname, '../../../node_modules/vega-datasets/data/movies.json')

export const films = (JSON.parse(readFileSync(file, 'utf8')) as readonly Film[]).filter(
  ({ Title }) => typeof Title === 'string',
)
const directors = [...new Set(films.flatMap(({ Director }) => Director ?? []))]

export function movies(): readonly string[] {
  return [
    'create table director (id int not null primary key, name varchar(100) not null)',
    `create table film (id int not null primary key, title varchar(200) not null, director_id int, us_gross bigint,
      rating decimal(3, 1), constraint film_director foreign key (director_id) references director (id))`,
    ...inserts(
      'director',
      directors.map((name, index) => [String(index + 1), text(name)]),
    ),
    ...inserts(
      'film',
      films.map((film, index) => [
        String(index + 1),
        text(film.Title ?? ''),
        film.Director === null ? 'null' : String(directors.indexOf(film.Director) + 1),
        String(film['US Gross']),
        String(film['IMDB Rating']),
      ]),
    ),
  ]
}

function inserts(table: string, rows: readonly (readonly string[])[]): readonly string[] {
  const statements: string[] = []
  for (let start = 0; start < rows.length; start += 500) {
    const values = rows.slice(start, start + 500).map((row) => `(${row.join(', ')})`)
    statements.push(`insert into ${table} values ${values.join(', ')}`)
  }
  return statements
}

/** None of the texts has a backslash. */
function text(value: string): string {
  return `'${value.replaceAll("'", "''")}'`
}
