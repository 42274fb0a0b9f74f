/** `doctor`: what is wrong with this set-up, from the settings to the types, and what to do about each. */
import { resolve } from 'node:path'
import { type ManifestText, writeSchema } from 'governed-data-client/generate'
import { schema, system } from 'governed-data-client/system'
import { explain } from '../advice.ts'
import { changesText } from '../changes-text.ts'
import type { Call, Command } from '../command.ts'
import { type Connection, connect, connectionOf, openProject, type Project, requireEnvironment } from '../connection.ts'
import { Failure } from '../failure.ts'
import { isEmpty, readModel } from '../model-file.ts'
import { type Environment, fileOf } from '../settings.ts'
import { isThisMachine } from '../this-machine.ts'
import { readText } from '../written-file.ts'

type Finding = {
  readonly check: string
  /** `unknown`: it could not be looked at, which is no fault by itself. */
  readonly state: 'ok' | 'wrong' | 'unknown'
  readonly message: string
  readonly help?: string
}

type Checked = { readonly call: Call; readonly project: Project; readonly connection: Connection }

/** Tokens live for minutes, so that a clock that is off by more than this makes them useless. */
const MOST_SKEW = 30_000

export const doctor: Command = {
  name: 'doctor',
  usage: '',
  summary: 'what is wrong with this set-up, and what to do about it',
  flags: {},
  parameters: [],
  async run(call) {
    const findings: Finding[] = []
    const { terminal } = call
    for await (const finding of examine(call)) findings.push(finding)
    const wrong = findings.filter(({ state }) => state === 'wrong')
    const lines = findings.flatMap(({ check, state, message, help }) => [
      `${terminal.paint(styles[state], state.padEnd(7))} ${check.padEnd(10)} ${message}`,
      ...(help === undefined ? [] : [`${' '.repeat(19)}${terminal.paint('dim', 'help:')} ${help}`]),
    ])
    return { data: findings, text: lines, state: wrong.length > 0 ? 'failed' : 'done' }
  },
}

const styles = { ok: 'green', wrong: 'red', unknown: 'yellow' } as const

/** What a check needs is checked before it; where that is wrong, nothing after it can be said. */
async function* examine(call: Call): AsyncGenerator<Finding> {
  const { host } = call
  const project = await openProject(host, call.values.env)
  const settings = await trial('settings', async () => {
    const { url, workspace } = requireEnvironment(project)
    const place = project.file.exists ? project.file.path : 'the environment variables'
    return `${project.name} is ${url}, workspace ${workspace}, by ${place}`
  })
  yield settings
  if (settings.state === 'wrong') return
  const opened: Connection[] = []
  yield await trial('address', async () => {
    const connection = await connect(call, project)
    opened.push(connection)
    return address(connection)
  })
  const [connection] = opened
  if (connection === undefined) return
  const { reach, clock } = await reachAndClock(requireEnvironment(project))
  yield reach
  if (reach.state === 'wrong') return
  yield clock
  const credential = await trial('credential', async () => whoIs(connection))
  yield credential
  yield await privacy(project)
  if (credential.state === 'wrong') return
  const checked = { call, project, connection }
  const rights = await trial('rights', async () => {
    await connection.must(schema(connection.db).manifest())
    return 'the model may be read'
  })
  yield rights
  if (rights.state === 'wrong') return
  yield await drift(checked)
  yield await model(checked)
  yield await types(checked)
}

type Seen = string | Pick<Finding, 'state' | 'message'>

async function trial(check: string, look: () => Promise<Seen>): Promise<Finding> {
  try {
    const seen = await look()
    return { check, ...(typeof seen === 'string' ? { state: 'ok' as const, message: seen } : seen) }
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause
    return { check, state: 'wrong', message: cause.message, ...(cause.help !== undefined && { help: cause.help }) }
  }
}

function address({ target }: Connection): Seen {
  if (!target.url.startsWith('http:')) return 'it is encrypted'
  if (isThisMachine(target.url)) return 'it is on this machine'
  throw new Failure('it is not encrypted: whoever is between reads all', { help: 'say https://' })
}

async function reachAndClock(environment: Environment): Promise<{ readonly reach: Finding; readonly clock: Finding }> {
  const { db, target } = connectionOf(environment, { auth: undefined, flags: '', credential: 'none' })
  const startedAt = Date.now()
  const info = await system(db).info()
  const took = Date.now() - startedAt
  const clock: Finding = { check: 'clock', state: 'unknown', message: 'the service does not tell the time' }
  if (!info.ok) {
    const { message, help } = explain(info.error, target)
    return { reach: { check: 'reach', state: 'wrong', message, ...(help !== undefined && { help }) }, clock }
  }
  const reach: Finding = { check: 'reach', state: 'ok', message: `${info.data.name} answers in ${took} ms` }
  const date = Date.parse(info.headers.get('Date') ?? '')
  if (Number.isNaN(date)) return { reach, clock }
  const skew = Math.round((startedAt + took / 2 - date) / 1000)
  if (Math.abs(skew) * 1000 <= MOST_SKEW)
    return { reach, clock: { ...clock, state: 'ok', message: 'it agrees with the service' } }
  const message = `this machine is ${Math.abs(skew)} s ${skew > 0 ? 'ahead of' : 'behind'} the service`
  return { reach, clock: { ...clock, state: 'wrong', message, help: 'set its clock: tokens are good for minutes' } }
}

async function whoIs({ db, must, target }: Connection): Promise<string> {
  if (target.credential === 'none') throw new Failure('nobody is signed in', { help: `governed login${target.flags}` })
  const user = await must(db.$auth.me())
  return `${user.email}, by ${credentials[target.credential]}`
}

const credentials = { token: 'GOVERNED_TOKEN', key: 'an API key', session: 'a session' } as const

async function privacy({ credentials: { path, isOpenToOthers } }: Project): Promise<Finding> {
  const check = 'privacy'
  const isOpen = await isOpenToOthers()
  if (isOpen) return { check, state: 'wrong', message: `others may read ${path}`, help: `chmod 600 ${path}` }
  return { check, state: 'ok', message: isOpen === undefined ? 'nothing is kept' : `nobody else reads ${path}` }
}

async function drift({ connection: { db, must } }: Checked): Promise<Finding> {
  const check = 'drift'
  const found = await trial(check, async () => {
    const { data } = await must(db.$request<{ data: { sources: { sourceId: string }[] } }>('GET', 'schema/drift'))
    const [source] = data.sources
    if (source === undefined) return 'the databases are as the model says'
    throw new Failure(`${data.sources.length} changed outside of the service`, {
      help: `POST …/schema/introspect/${source.sourceId} imports that`,
    })
  })
  return found
}

async function model({ call, project, connection }: Checked): Promise<Finding> {
  const check = 'model'
  return trial(check, async () => {
    const file = await fileOf(project.file, 'model', call.host.cwd)
    const path = resolve(call.host.cwd, file)
    if ((await readText(path)) === undefined) return { state: 'unknown', message: `${file} is not there` }
    const plan = await connection.must(schema(connection.db).plan(await readModel(path)))
    if (isEmpty(plan)) return `${file} is the model of the workspace`
    throw new Failure(`${file} differs by ${changesText(plan.changes.length)}`, {
      help: `governed schema diff${connection.target.flags}`,
    })
  })
}

async function types({ call, project, connection: { db, must, target } }: Checked): Promise<Finding> {
  const check = 'types'
  return trial(check, async () => {
    const file = await fileOf(project.file, 'types', call.host.cwd)
    const text = await readText(resolve(call.host.cwd, file))
    if (text === undefined) return { state: 'unknown', message: `${file} is not there` }
    const manifest = (await must(schema(db).manifest())) as ManifestText
    if ([false, true].some((isSystem) => writeSchema(manifest, { system: isSystem }) === text))
      return `${file} is up to date`
    throw new Failure(`${file} differs`, { help: `governed types${target.flags}` })
  })
}
