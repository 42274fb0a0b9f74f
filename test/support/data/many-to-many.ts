/** Many-to-many fields in a model that is built by hand; ids are paths, as those of `build`. */
import { manyToManyPair } from '../../../src/core/migration/many-to-many.ts'
import { buildModel, type Model } from '../../../src/core/model/model.ts'
import { build } from './build.ts'

/** The field `name` of a collection: `near` is its relation to the junction, `back` that of the junction to it. */
export type Side = { readonly of: string; readonly name: string; readonly near: string; readonly back: string }

/** `key` are the columns of the junction's primary key. */
export function withManyToMany(
  { records }: Model,
  {
    junction,
    sides,
    key,
  }: { readonly junction: string; readonly sides: readonly [Side, Side]; readonly key: readonly string[] },
): Model {
  const relationOf = (collection: string, name: string) => {
    const found = records.relationFields.find((one) => one.collectionId === collection && one.apiName === name)
    if (found === undefined) throw new Error(`there is no ${collection}.${name}`)
    return found
  }
  const sideOf = ({ of, name, near, back }: Side) =>
    [
      { id: `${of}.${name}`, apiName: name },
      { near: relationOf(of, near), far: relationOf(junction, back) },
    ] as const
  const fieldIds = key.map((name) => `${junction}.${name}`)
  return buildModel(1, {
    ...records,
    relationFields: [...records.relationFields, ...manyToManyPair(sideOf(sides[0]), sideOf(sides[1]))],
    indexes: records.indexes.map((index) => (index.collectionId === junction ? { ...index, fieldIds } : index)),
  })
}

/** Films and actors, each the other's list, over links; films have fields beside. */
export function linkedFilms(fields: Readonly<Record<string, string>> = {}): Model {
  const collections = {
    films: { id: 'int64', title: 'string', ...fields },
    actors: { id: 'int64', name: 'string' },
    links: { id: 'int64', filmId: 'int64', actorId: 'int64' },
  }
  const relations = ['links.film(filmId) -> films.links', 'links.actor(actorId) -> actors.links']
  return withManyToMany(build.model(collections, relations), {
    junction: 'links',
    key: ['id'],
    sides: [
      { of: 'films', name: 'actors', near: 'links', back: 'film' },
      { of: 'actors', name: 'films', near: 'links', back: 'actor' },
    ],
  })
}
