/** Whether what was read as a model file has the form of one, so far as types are made of it. */

/** Throws for what has not, with the place. */
export function requireForm(model: unknown): void {
  if (!isObject(model)) throw new TypeError('it holds no object')
  const { collections = {} } = model
  if (!isObject(collections)) throw new TypeError('collections is no object of collections by name')
  for (const [name, collection] of Object.entries(collections)) requireCollection(`collections.${name}`, collection)
}

function requireCollection(place: string, collection: unknown): void {
  if (!isObject(collection)) throw new TypeError(`${place} is no collection`)
  const { fields, key, indexes } = collection
  if (!isObject(fields)) throw new TypeError(`${place}.fields is no object of fields by name`)
  for (const [name, field] of Object.entries(fields)) requireField(`${place}.fields.${name}`, field)
  requireNames(`${place}.key`, key)
  if (indexes === undefined) return
  const isIndex = (one: unknown) => typeof (isObject(one) ? one.on : one) === 'string'
  if (!Array.isArray(indexes) || !indexes.every(isIndex)) throw new TypeError(`${place}.indexes is no list of indexes`)
}

function requireField(place: string, field: unknown): void {
  if (typeof field === 'string') return
  if (!isObject(field)) throw new TypeError(`${place} is no field`)
  const kind = ['type', 'to', 'many'].find((member) => member in field)
  if (kind === undefined) throw new TypeError(`${place} is no field`)
  for (const member of [kind, 'opposite', 'through', 'over']) requireText(`${place}.${member}`, field[member])
  for (const member of ['by', 'references']) requireNames(`${place}.${member}`, field[member])
}

function requireText(place: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'string') throw new TypeError(`${place} is no text`)
}

function requireNames(place: string, value: unknown): void {
  if (value === undefined) return
  if (!Array.isArray(value) || value.some((name) => typeof name !== 'string')) {
    throw new TypeError(`${place} is no list of names`)
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
