/** The demo's items from the npm package vega-datasets: US airports, flights of early 2001, films until 2010. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Items = Readonly<Record<string, readonly object[]>>

/** Returns items by collection, in an order that satisfies their relations. */
export function demoItems(): Items {
  const airports = readAirports()
  const codes = new Set(airports.map(({ code }) => code))
  const films = readFilms()
  const directors = [...new Set(films.map(({ director }) => director))].filter((name) => name !== null).sort()
  const directorIds = new Map(directors.map((name, index) => [name, index + 1]))
  return {
    airports,
    flights: readFlights().filter(
      ({ originCode, destinationCode }) => codes.has(originCode) && codes.has(destinationCode),
    ),
    directors: directors.map((name) => ({ id: directorIds.get(name), name })),
    films: films.map(({ director, ...film }) => ({ ...film, directorId: director && directorIds.get(director) })),
  }
}

function readAirports() {
  const [, ...lines] = readData('airports.csv').trim().split(/\r?\n/)
  return lines.map((line) => {
    const [code = '', name = '', city = '', state = '', country = '', latitude, longitude] = cells(line)
    return {
      code,
      name,
      city: textOrNull(city),
      state: textOrNull(state),
      country,
      latitude: Number(latitude),
      longitude: Number(longitude),
    }
  })
}

/** Cells may be quoted; a quote inside is doubled. */
function cells(line: string): readonly string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) =>
    quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'),
  )
}

function textOrNull(text: string): string | null {
  return text === '' || text === 'NA' ? null : text
}

type Flight = { date: string; delay: number; distance: number; origin: string; destination: string }

function readFlights() {
  const flights = JSON.parse(readData('flights-2k.json')) as Flight[]
  return flights.map(({ date, delay, distance, origin, destination }) => ({
    departedAt: `${date.slice(0, 10).replaceAll('/', '-')}T${date.slice(11)}:00`,
    delayMinutes: delay,
    distanceMiles: distance,
    originCode: origin,
    destinationCode: destination,
  }))
}

function readFilms() {
  const films = JSON.parse(readData('movies.json')) as Record<string, string | number | null>[]
  return films.map((film, index) => ({
    id: index + 1,
    title: film.Title === null ? null : String(film.Title),
    releasedOn: isoDate(String(film['Release Date'])),
    genre: film['Major Genre'],
    distributor: film.Distributor,
    rating: film['MPAA Rating'],
    runningMinutes: film['Running Time min'],
    productionBudget: film['Production Budget'],
    worldwideGross: film['Worldwide Gross'],
    imdbRating: film['IMDB Rating'] === null ? null : String(film['IMDB Rating']),
    imdbVotes: film['IMDB Votes'],
    director: film.Director === null ? null : String(film.Director),
  }))
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `Jun 12 1998` → `1998-06-12`; null for the few dates in another form. */
function isoDate(text: string): string | null {
  const [, month = '', day = '', year] = /^([A-Z][a-z]{2}) (\d{1,2}) (\d{4})$/.exec(text) ?? []
  if (year === undefined) return null
  return `${year}-${String(months.indexOf(month) + 1).padStart(2, '0')}-${day.padStart(2, '0')}`
}

function readData(name: string): string {
  return readFileSync(join(import.meta.dirname, '../../node_modules/vega-datasets/data', name), 'utf8')
}
