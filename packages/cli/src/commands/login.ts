/** `login` and `logout`: by a password or a browser, which make a session, or by an API key. What is typed is never shown. */
import { createClient, type User } from 'governed-data-client'
import { explain } from '../advice.ts'
import { signInByBrowser } from '../browser-sign-in.ts'
import type { Call, Command } from '../command.ts'
import { connectionOf, openProject, PATIENCE, type Project, requireEnvironment } from '../connection.ts'
import { parseToken } from '../credentials.ts'
import { Failure, wrongCall } from '../failure.ts'
import { keepKnown, requireKnown } from '../known.ts'
import { type Environment, parseUrl } from '../settings.ts'
import { isThisMachine } from '../this-machine.ts'
import { requireWorkspace, welcomed } from '../workspace.ts'
import { isSame, saveEnvironment } from './env.ts'

export const login: Command = {
  name: 'login',
  usage: '[--url U --workspace W] [--email E --password-stdin | --key-stdin | --browser]',
  summary: 'signs in, by a password, an API key or a browser anywhere, and names the service where it has no name yet',
  flags: {
    url: 'value',
    workspace: 'value',
    email: 'value',
    'password-stdin': 'switch',
    'key-stdin': 'switch',
    browser: 'switch',
  },
  parameters: [],
  async run(call) {
    const { host, terminal, values, switches } = call
    if (switches.has('key-stdin') && (switches.has('password-stdin') || values.email !== undefined)) {
      throw wrongCall('--key-stdin stands alone: a key says whose it is')
    }
    if (switches.has('password-stdin') && values.email === undefined) throw wrongCall('--password-stdin takes --email')
    if (switches.has('browser') && (switches.has('key-stdin') || values.email !== undefined)) {
      throw wrongCall('--browser stands alone: who signs in says so there')
    }
    const project = await openProject(host, values.env)
    const { environment, isNew } = await environmentOf(call, project)
    // A browser says itself where one signs in.
    if (values.url === undefined && project.environment !== undefined && !switches.has('browser')) {
      await requireKnown(call, project, { url: environment.url, what: 'who you are' })
    }
    if (/^http:/.test(environment.url) && !isThisMachine(environment.url)) {
      terminal.say(`warning: ${environment.url} is not encrypted: whoever is between reads what you send`)
    }
    const user = await byFlags(call, project, environment)
    if (isNew) await saveEnvironment(project, environment)
    await keepKnown(project.home, environment.url)
    if (host.env.GOVERNED_TOKEN) terminal.say('warning: commands go by GOVERNED_TOKEN as long as it is set')
    const { url, workspace } = environment
    const data = { name: project.name, url, workspace, email: user.email }
    return { data, text: [`signed in to ${url}, workspace ${workspace}, as ${user.email}`] }
  },
}

export const logout: Command = {
  name: 'logout',
  usage: '',
  summary: 'ends the session, or forgets the key',
  flags: {},
  parameters: [],
  async run({ host, values, terminal }) {
    const project = await openProject(host, values.env)
    const environment = requireEnvironment(project)
    const kept = await project.credentials.load(environment)
    if (kept === undefined) return { data: { signedOut: false }, text: ['nobody is signed in'] }
    if (kept.kind === 'key') terminal.say('the key is forgotten here and good elsewhere, until it is deleted')
    else await end(project, environment)
    await project.credentials.forget(environment)
    return { data: { signedOut: true }, text: [`signed out of ${environment.url}, workspace ${environment.workspace}`] }
  },
}

/** A service that does not answer has no say in it: what is kept here goes in any case. */
async function end(project: Project, environment: Environment): Promise<void> {
  await project.credentials.signIn(environment, async (auth) => {
    await createClient(environment.url, { workspace: environment.workspace, auth, timeout: PATIENCE }).$auth.logout()
  })
}

/** What the flags say, else what is known, else what a person says. */
async function environmentOf({ values, terminal }: Call, project: Project) {
  const known = project.environment
  if (values.url === undefined && values.workspace === undefined && known !== undefined) {
    return { environment: known, isNew: false }
  }
  const url = values.url ?? known?.url ?? (await terminal.ask({ text: 'Address of the service', flag: '--url' }))
  const workspace =
    values.workspace ?? known?.workspace ?? (await terminal.ask({ text: 'Workspace', flag: '--workspace' }))
  const environment = { url: parseUrl(url.trim()), workspace: workspace.trim() }
  const named = project.file.settings.env.get(project.name)
  if (named !== undefined && !isSame(named, environment)) {
    throw wrongCall(
      `${project.name} is ${named.url}, workspace ${named.workspace}`,
      'give the other one a name, by --env NAME, or change this by governed env add',
    )
  }
  return { environment, isNew: named === undefined }
}

async function byFlags(call: Call, project: Project, environment: Environment): Promise<User> {
  if (call.switches.has('browser')) return signInByBrowser(call.terminal, project, environment)
  if (call.switches.has('key-stdin')) return byKey(project, environment, await secretOf(call))
  return byAnything(call, project, environment)
}

async function byAnything(call: Call, project: Project, environment: Environment): Promise<User> {
  const { values, switches, terminal } = call
  const email =
    values.email ??
    (await terminal.ask({
      text: 'E-mail (nothing for an API key)',
      flag: '--browser, --email E --password-stdin, or --key-stdin',
    }))
  const isKey = email.trim() === ''
  const secret = switches.has('password-stdin')
    ? await secretOf(call)
    : await terminal.ask({
        text: isKey ? 'API key' : 'Password',
        flag: isKey ? '--key-stdin' : '--password-stdin',
        kind: 'hidden',
      })
  if (isKey) return byKey(project, environment, secret.trim())
  return byPassword(project, environment, { email: email.trim(), password: secret })
}

/** Without the end of its line, as `echo` and files have it. */
async function secretOf({ terminal }: Call): Promise<string> {
  const secret = (await terminal.read()).replace(/\r?\n$/, '')
  if (secret === '') throw wrongCall('stdin is empty')
  return secret
}

async function byPassword(
  project: Project,
  environment: Environment,
  credentials: { readonly email: string; readonly password: string },
): Promise<User> {
  let user: User | undefined
  await project.credentials.signIn(environment, async (auth) => {
    const connection = connectionOf(environment, { auth, flags: '', credential: 'none' })
    const signedIn = await connection.db.$auth.login(credentials)
    if (!signedIn.ok && signedIn.status === 401) {
      const help = 'is the password right? Whoever signs in through a provider says --browser'
      throw new Failure(signedIn.error.message, { cause: signedIn.error, help })
    }
    if (!signedIn.ok) throw explain(signedIn.error, connection.target)
    user = await welcomed(connection)
  })
  if (user === undefined) throw new Failure('the service says nobody is signed in')
  return user
}

/** It is tried before it is kept. */
async function byKey(project: Project, environment: Environment, text: string): Promise<User> {
  const key = parseToken('what was given', text)
  const trial = connectionOf(environment, {
    auth: { headers: () => ({ Authorization: `Bearer ${key}` }) },
    flags: '',
    credential: 'key',
  })
  const found = await trial.db.$auth.me()
  if (!found.ok && found.status === 401) {
    throw new Failure('the service refuses this key', {
      cause: found.error,
      help: 'is it whole, switched on and not over?',
    })
  }
  if (!found.ok) throw explain(found.error, trial.target)
  await requireWorkspace(trial)
  await project.credentials.keepKey(environment, key)
  return found.data
}
