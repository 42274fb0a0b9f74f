/**
 * `governed.json`, the settings of a project: its services by name, and where its model and its types are kept. It
 * holds nothing secret. The nearest one counts, from the working directory upwards.
 */
import { realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { Failure, wrongCall } from './failure.ts'
import { parseJson, readText, writeText } from './written-file.ts'

export type Environment = { readonly url: string; readonly workspace: string }

export type Settings = {
  readonly env: ReadonlyMap<string, Environment>
  readonly model: string
  readonly types: string
}

/** `path` is where it is written, whether it is there yet or not. */
export type SettingsFile = { readonly path: string; readonly exists: boolean; readonly settings: Settings }

const NAME = 'governed.json'

const members = ['$schema', 'env', 'model', 'types']

export async function loadSettings(cwd: string): Promise<SettingsFile> {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const path = join(folder, NAME)
    const text = await readText(path)
    if (text !== undefined) return { path, exists: true, settings: parseSettings(path, parseJson(path, text)) }
    if (folder === dirname(folder)) break
  }
  return { path: join(cwd, NAME), exists: false, settings: { env: new Map(), model: 'model.json', types: 'schema.ts' } }
}

/**
 * A file that the settings name, from where they are; as it is shown, from the working directory. Settings may come from somebody
 * else, with a service of theirs: throws where the file lies outside of their folder, by a link too, or is of another kind.
 */
export async function fileOf({ path, settings }: SettingsFile, kind: 'model' | 'types', cwd: string): Promise<string> {
  const folder = dirname(path)
  const file = resolve(folder, settings[kind])
  const inside = relative(await placeOf(folder), await placeOf(file))
  const help = 'name the file in the command where it is meant'
  if (inside === '' || isAbsolute(inside) || inside.split(sep)[0] === '..') {
    throw new Failure(`${path}: ${kind} leads out of its folder`, { help })
  }
  if (!file.endsWith(ENDS[kind])) throw new Failure(`${path}: ${kind} must end with ${ENDS[kind]}`, { help })
  return relative(cwd, file) || settings[kind]
}

const ENDS = { model: '.json', types: '.ts' } as const

/** Where a path leads, whether it is there yet or not. */
async function placeOf(path: string): Promise<string> {
  const parent = dirname(path)
  return realpath(path).catch(async () => (parent === path ? path : join(await placeOf(parent), basename(path))))
}

export async function saveEnvironments(file: SettingsFile, env: ReadonlyMap<string, Environment>): Promise<void> {
  const before = file.exists ? (parseJson(file.path, (await readText(file.path)) ?? '{}') as object) : {}
  const { model, types } = file.settings
  const after = { ...before, env: Object.fromEntries(env), model, types }
  await writeText(file.path, `${JSON.stringify(after, null, 2)}\n`)
}

function parseSettings(path: string, value: unknown): Settings {
  const fault = (place: string, reason: string) => new Failure(`${path}: ${place} ${reason}`)
  if (!isObject(value)) throw fault('the file', 'must hold an object')
  const unknown = Object.keys(value).find((name) => !members.includes(name))
  if (unknown !== undefined) throw fault(unknown, `is not known; there are ${members.slice(1).join(', ')}`)
  const { env = {}, model = 'model.json', types = 'schema.ts' } = value
  if (typeof model !== 'string') throw fault('model', 'must be the path of a file')
  if (typeof types !== 'string') throw fault('types', 'must be the path of a file')
  if (!isObject(env)) throw fault('env', 'must be an object of services by name')
  const environments = Object.entries(env).map(([name, entry]) => {
    if (!isObject(entry) || typeof entry.url !== 'string' || typeof entry.workspace !== 'string') {
      throw fault(`env.${name}`, 'must be {"url": "…", "workspace": "…"}')
    }
    return [parseName(name), { url: parseUrl(entry.url), workspace: entry.workspace }] as const
  })
  return { env: new Map(environments), model, types }
}

export function parseName(name: string): string {
  if (/^[\w][\w.-]*$/.test(name)) return name
  throw wrongCall(`${JSON.stringify(name)} is no name of an environment: letters, digits, _, . and -`)
}

/** Throws where it could not be called, or holds what is secret. */
export function parseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw wrongCall(`${text} is no address of a service`, 'such as https://data.example.com')
  }
  if (url.username !== '' || url.password !== '') {
    throw wrongCall('an address holds no user and no password', 'governed login keeps them elsewhere')
  }
  return (url.origin + url.pathname).replace(/\/+$/, '')
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
