/** A data connector to an HTTP API that lists tasks as JSON at `{url}/tasks`. */
import {
  AccessDenied,
  answerRead,
  ConnectionFailed,
  cleanMessage,
  defineConnector,
  InvalidConfiguration,
  type Item,
  RateLimited,
  readTexts,
  type SchemaDeclaration,
} from 'governed-data-service/connector-kit'

const schema: SchemaDeclaration = {
  collections: [
    {
      name: 'tasks',
      fields: [
        { name: 'id', type: { name: 'int32' }, isNullable: false, isList: false },
        { name: 'title', type: { name: 'string' }, isNullable: false, isList: false },
        { name: 'done', type: { name: 'boolean' }, isNullable: false, isList: false },
      ],
      key: ['id'],
      operations: ['readMany', 'readOne'],
      filter: { id: ['eq', 'in'], title: ['eq', 'icontains'], done: ['eq'] },
      sort: ['id', 'title'],
      count: true,
      offset: true,
      after: true,
    },
  ],
}

export const { preflight, setup } = defineConnector({
  config: (value) => {
    const { url } = readTexts(value, { required: ['url'] })
    if (!URL.canParse(url)) throw new InvalidConfiguration('url must be an address')
    return { url: new URL(url) }
  },

  preflight: ({ url }) => ({
    permissions: [{ permission: `net:${url.host}`, reason: 'the API that lists the tasks' }],
  }),

  setup: ({ url }) => ({
    introspect: () => ({ schema }),
    testConnection: async () => {
      await load(url)
      return { ok: true }
    },
    query: async (request) => {
      // Requests outside the declaration are bugs, not errors of the caller, so a plain error is thrown.
      if (request.operation !== 'readMany' && request.operation !== 'readOne') throw new Error('only reads are served')
      return answerRead(request, await load(url))
    },
  }),
})

async function load(url: URL): Promise<readonly Item[]> {
  const response = await fetch(new URL('tasks', url)).catch((cause: unknown) => {
    // The cause must be passed on: it shows whether the sandbox denied the connection.
    throw new ConnectionFailed('the API cannot be reached', { cause })
  })
  if (response.status === 401 || response.status === 403) throw new AccessDenied('the API refuses the account')
  if (response.status === 429) throw new RateLimited('the API asks for fewer requests')
  if (!response.ok) throw new ConnectionFailed(cleanMessage(`the API answered ${response.status}`))
  return (await response.json()) as readonly Item[]
}
