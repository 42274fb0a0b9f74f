/** `env`: the services of a project by name, and which one counts. */
import type { Call, Command } from '../command.ts'
import { openProject, type Project } from '../connection.ts'
import { wrongCall } from '../failure.ts'
import { keepKnown } from '../known.ts'
import { type Environment, parseName, parseUrl, saveEnvironments } from '../settings.ts'
import { saveUsed } from '../used.ts'

const list: Command = {
  name: 'env',
  usage: '[add NAME --url U --workspace W | use NAME | remove NAME]',
  summary: 'services by name; * is the one that counts',
  flags: {},
  parameters: [],
  async run(call) {
    const project = await openProject(call.host, call.values.env)
    const entries = [...project.file.settings.env].map(([name, at]) => ({ name, ...at, used: name === project.name }))
    const lines = entries.map(({ name, url, workspace, used }) => `${used ? '*' : ' '} ${name}  ${url}  ${workspace}`)
    return {
      data: entries,
      text: lines.length > 0 ? lines : ['no services: governed env add NAME --url U --workspace W'],
    }
  },
}

const add: Command = {
  name: 'env add',
  usage: 'NAME --url U --workspace W',
  summary: 'names a service, in governed.json',
  flags: { url: 'value', workspace: 'value' },
  parameters: ['NAME'],
  async run(call) {
    const [text = ''] = call.parameters
    const { url, workspace } = call.values
    if (url === undefined || workspace === undefined) throw wrongCall(`env add takes --url and --workspace`)
    const name = parseName(text)
    const environment = { url: parseUrl(url), workspace }
    const project = await openProject(call.host, name)
    await saveEnvironment(project, environment)
    await keepKnown(project.home, environment.url)
    return { data: { name, ...environment }, text: [`${name} is ${environment.url}, workspace ${workspace}`] }
  },
}

const use: Command = {
  name: 'env use',
  usage: 'NAME',
  summary: 'the service that commands ask without --env, for you in this project',
  flags: {},
  parameters: ['NAME'],
  async run(call) {
    const { project, name, environment } = await named(call)
    await saveUsed({ home: project.home, settings: project.file.path }, name)
    return {
      data: { name, ...environment },
      text: [`${name} is used: ${environment.url}, workspace ${environment.workspace}`],
    }
  },
}

const remove: Command = {
  name: 'env remove',
  usage: 'NAME',
  summary: 'takes a service out of governed.json, and forgets its credential',
  flags: {},
  parameters: ['NAME'],
  async run(call) {
    const { project, name, environment } = await named(call)
    const left = new Map(project.file.settings.env)
    left.delete(name)
    await saveEnvironments(project.file, left)
    if (project.used === name) await saveUsed({ home: project.home, settings: project.file.path }, undefined)
    if (![...left.values()].some((other) => isSame(other, environment))) await project.credentials.forget(environment)
    return { data: { name }, text: [`${name} is removed`] }
  },
}

export const environments = [list, add, use, remove] as const

/** Writes an environment under the name of the project. */
export async function saveEnvironment({ file, name }: Project, environment: Environment): Promise<void> {
  await saveEnvironments(file, new Map(file.settings.env).set(name, environment))
}

export const isSame = (one: Environment, other: Environment) =>
  one.url === other.url && one.workspace === other.workspace

async function named(call: Call) {
  const [text = ''] = call.parameters
  const name = parseName(text)
  const project = await openProject(call.host, undefined)
  const { env } = project.file.settings
  const environment = env.get(name)
  if (environment === undefined) {
    throw wrongCall(
      `there is no environment ${name}`,
      env.size > 0 ? `one of ${[...env.keys()].join(', ')}` : 'governed env add',
    )
  }
  return { project, name, environment }
}
