/** `schema pull | diff | push`: the model of a workspace and a file, in both directions. */
import { resolve } from 'node:path'
import type { ServiceError } from 'governed-data-client'
import { type Plan, schema } from 'governed-data-client/system'
import { changesText, planLines } from '../changes-text.ts'
import type { Call, Command, Outcome } from '../command.ts'
import { CHANGED_WITHIN, type Connection, connect, openProject } from '../connection.ts'
import { Failure, wrongCall } from '../failure.ts'
import { isEmpty, isModel, readModel } from '../model-file.ts'
import { fileOf } from '../settings.ts'
import { writeText } from '../written-file.ts'

export const pull: Command = {
  name: 'schema pull',
  usage: '[FILE] [--no-ids]',
  summary: 'writes the model of the workspace to a file',
  flags: { 'no-ids': 'switch' },
  parameters: ['FILE?'],
  async run(call) {
    const { file, path, connection } = await opened(call)
    const text = await modelText(connection, call.switches.has('no-ids') ? { ids: false } : {})
    const written = await writeText(path, text, call.parameters[0] === undefined ? { replaces: aModel } : {})
    return { data: { file, written }, text: [written ? `${file} is written` : `${file} is up to date`] }
  },
}

export const diff: Command = {
  name: 'schema diff',
  usage: '[FILE]',
  summary: 'what push would change: the model, SQL, rights, what is lost; 2 where there is something',
  flags: {},
  parameters: ['FILE?'],
  async run(call) {
    const { file, path, connection } = await opened(call)
    const plan = await connection.must(schema(connection.db).plan(await readModel(path)))
    if (isEmpty(plan)) return { data: plan, text: [`no difference: the workspace has the model of ${file}`] }
    return { data: plan, text: planLines(plan, call.terminal.paint), state: 'differs' }
  },
}

export const push: Command = {
  name: 'schema push',
  usage: '[FILE] [--allow drop,failingTests]',
  summary: 'makes the workspace what the file says, once you have seen what that is',
  flags: { allow: 'value' },
  parameters: ['FILE?'],
  async run(call) {
    const allow = allowedIn(call.values.allow)
    const { file, path, connection } = await opened(call)
    const model = await readModel(path)
    return pushModel(call, { file, model, connection, allow })
  },
}

const allowances = ['drop', 'failingTests'] as const
type Allowed = (typeof allowances)[number]

/** Several have commas between. */
function allowedIn(text: string | undefined): readonly Allowed[] {
  return (text?.split(',') ?? []).map((word) => {
    const known = allowances.find((one) => one === word)
    if (known === undefined) throw wrongCall('--allow takes drop, failingTests, or both with a comma between')
    return known
  })
}

type Pushed = {
  readonly file: string
  readonly model: object
  readonly connection: Connection
  readonly allow: readonly Allowed[]
}

/** Once more, where something moved while somebody thought about the plan; `--yes` sees each plan, too. */
const ATTEMPTS = 5

async function pushModel(call: Call, pushed: Pushed): Promise<Outcome> {
  const { terminal } = call
  const { file, model, connection, allow } = pushed
  for (let attempt = 1; ; attempt++) {
    const { db, target, must } = connection
    const plan = await must(schema(db).plan(model))
    if (isEmpty(plan))
      return { data: { changes: [] }, text: [`nothing to change: the workspace has the model of ${file}`] }
    for (const line of planLines(plan, terminal.paint)) terminal.say(line)
    await requireConsent(call, pushed, plan)
    terminal.progress('applying …')
    const applied = await schema(db).apply(model, plan, { allow, timeout: CHANGED_WITHIN })
    if (!applied.ok && applied.error.code === '4094' && attempt < ATTEMPTS) {
      terminal.say(`the plan is out of date (${movedText(applied.error)}); this is what it would be now:`)
      continue
    }
    if (!applied.ok && applied.status === 0) {
      throw new Failure(`it is not known whether the plan was applied: ${target.url} did not answer`, {
        cause: applied.error,
        help: `governed schema diff${target.flags} says what is left to do`,
      })
    }
    const data = await must(applied)
    return { data, text: [`${changesText(plan.changes.length)} applied`] }
  }
}

async function requireConsent(call: Call, { allow, connection }: Pushed, plan: Plan): Promise<void> {
  const { missing, destructive } = plan
  if (missing.length > 0) {
    throw new Failure(`applying this takes ${missing.join(', ')}`, {
      help: `an administrator of the workspace ${connection.target.workspace} can give that`,
    })
  }
  if (destructive.length > 0 && !allow.includes('drop')) {
    throw new Failure(`this would destroy ${destructive.map(({ path }) => path).join(', ')}`, {
      help: 'say --allow drop where it is meant; a rename is renamedFrom in the file',
    })
  }
  if (call.switches.has('yes')) return
  if (
    await call.terminal.confirm({
      text: `Apply to ${connection.target.url}, workspace ${connection.target.workspace}?`,
      flag: '--yes',
    })
  )
    return
  throw new Failure('nothing was changed')
}

/** The file that is named, or that of the settings, and the service. */
async function opened(call: Call) {
  const project = await openProject(call.host, call.values.env)
  const file = call.parameters[0] ?? (await fileOf(project.file, 'model', call.host.cwd))
  return { file, path: resolve(call.host.cwd, file), connection: await connect(call, project) }
}

/** Byte by byte as the service writes it, since equal models are equal files. */
async function modelText({ db, must }: Connection, query: { readonly ids?: boolean }): Promise<string> {
  let text = ''
  const keeping: typeof fetch = async (url, init) => {
    const response = await fetch(url, init)
    text = await response.clone().text()
    return response
  }
  await must(schema(db).model({ ...query, fetch: keeping }))
  if (!isModel(text)) throw new Failure('the service has answered something that is no model file')
  return text.endsWith('\n') ? text : `${text}\n`
}

/** A file of something else, which the settings of somebody else may name, stays. */
const aModel = { what: 'model file', isReplaceable: isModel }

function movedText({ meta }: ServiceError): string {
  const moved = (meta as { readonly moved?: readonly string[] } | undefined)?.moved ?? []
  return moved.map((what) => movements[what] ?? what).join(', ') || 'something moved'
}

const movements: Readonly<Record<string, string>> = {
  model: 'somebody changed the model',
  access: 'somebody changed rights',
  drift: 'somebody changed the database',
  file: 'the file is another',
}
