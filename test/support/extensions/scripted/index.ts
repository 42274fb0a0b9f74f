/**
 * A connector to test/support/servers/external-system.ts that does what it is told: every handler asks there first whether it is to
 * do something else than its work, and preflight, which must not ask, looks into the configuration.
 */
import * as kit from 'governed-data-service/connector-kit'

type Instruction = {
  readonly do: 'answer' | 'promise' | 'throw' | 'plain' | 'code' | 'monospace' | 'denied' | 'fetch' | 'drop' | 'lose'
  readonly value?: unknown
  readonly class?: string
  readonly code?: number
  readonly message?: string
  readonly url?: string
}

type Config = { readonly system?: string; readonly preflight?: Instruction; readonly without?: readonly string[] }

class NotCapable extends Error {
  override readonly name = 'NotCapable'
}

function follow(instruction: Instruction): unknown {
  const { message = 'as told', value, code } = instruction
  switch (instruction.do) {
    case 'answer':
      return value
    case 'promise':
      return Promise.resolve(value)
    case 'throw': {
      const Class = Reflect.get(kit, instruction.class ?? '') as new (text: string) => Error
      throw new Class(message)
    }
    case 'plain':
      throw new Error(message)
    case 'code':
      throw Object.assign(new Error(message), { monospace: { code } })
    case 'monospace':
      throw Object.assign(new Error(message), { monospace: value })
    case 'denied':
      throw new kit.RateLimited(message, { cause: new Error('inner', { cause: new NotCapable('no') }) })
    case 'lose':
    case 'drop':
    case 'fetch':
      return fetch(instruction.url ?? '').then((response) => response.json())
  }
}

export function preflight(config: Config) {
  if (config.preflight !== undefined) return follow(config.preflight)
  return {
    permissions:
      config.system === undefined ? [] : [{ permission: `net:${new URL(config.system).host}`, reason: 'the system' }],
  }
}

export async function setup(config: Config) {
  const ask = async (path: string, body?: unknown) => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const response = await fetch(`${config.system}/${path}`, init)
    return (await response.json()) as unknown
  }
  const instructionFor = async (handler: string) =>
    config.system === undefined ? null : ((await ask(`instructions/${handler}`)) as Instruction | null)
  const does = async (handler: string, work: () => unknown) => {
    const instruction = await instructionFor(handler)
    if (instruction?.do === 'drop') delete returned[handler]
    if (instruction?.do === 'lose') {
      await work()
      throw new Error('the answer is lost')
    }
    return instruction === null || instruction.do === 'drop' ? work() : follow(instruction)
  }
  const handlers = {
    introspect: () => does('introspect', () => ask('schema')),
    query: (request: unknown) =>
      does('query', async () => {
        const answer = await ask('query', request)
        if (answer === 'changed') throw new kit.ItemChanged('it is another by now')
        return answer
      }),
    testConnection: () => does('testConnection', () => ({ ok: true })),
  }
  const kept = Object.entries(handlers).filter(([name]) => !config.without?.includes(name))
  const returned: Record<string, unknown> = Object.fromEntries(kept)
  return does('setup', () => returned)
}
