/**
 * `POST /api/{workspace}/mcp` (docs/contract.md#mcp): MCP over streamable HTTP, without sessions, answered in JSON. The
 * protocol library is loaded with the first request.
 */
import type { Config } from '../../src/config.ts'
import { ServiceError } from '../../src/core/error.ts'
import { withPlainNumbers } from '../../src/core/exact-json.ts'
import { isLoopback } from '../../src/core/loopback.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { readPlainJson } from '../http/body.ts'
import { authorizeToken } from '../http/context.ts'
import { type App, mount } from '../http/mount.ts'
import { publicAddress } from '../http/origin.ts'
import { type AppContext, headerOf, isDisconnected } from '../http/request.ts'
import { readIn } from '../http/sent.ts'

export function mountMcp(app: App, services: Services): void {
  const { agents, config, ports } = services

  mount(app, '/api/:workspace/mcp', {
    POST: async (c) => {
      requireKnownOrigin(c, config)
      // Browsers send cookies automatically, so agents must present a token.
      const credential = c.get('credential')
      const token = credential?.source === 'cookie' ? undefined : credential?.token
      const spent = { rows: 0 }
      const requester = {
        address: publicAddress(c, config),
        client: app.addressOf(c),
        isDisconnected: () => isDisconnected(c),
      }
      /** Opens the tools with the current rights. */
      const open = async () => agents.open({ ...(await authorizeToken(services, c, token)), spent }, requester)
      const read = () => readPlainJson(c, config.SERVICE_ITEMS__BODY_LIMIT)
      const [, sentNumbers] = await readIn(open, read)
      const body = withPlainNumbers(sentNumbers, 'arguments')
      const { answerMcp } = await import('../mcp/server.ts')
      const sent = { body, accept: headerOf(c, 'accept') ?? '', version: headerOf(c, 'mcp-protocol-version') }
      return answerMcp({ open, sent, isAnonymous: c.get('isAnonymous') === true, observe: ports.observe })
    },
  })
}

/**
 * Guards against DNS rebinding: a page whose own name resolves to this service sends that name as host and origin. Only
 * SERVICE_BASE_URL, the origins of CORS and loopback are accepted.
 */
function requireKnownOrigin(c: AppContext, config: Config): void {
  const { SERVICE_BASE_URL: base, SERVICE_CORS__ENABLED: isShared, SERVICE_CORS__ORIGIN: readers = [] } = config
  const origin = headerOf(c, 'origin')
  if (origin === undefined) return
  const { hostname } = URL.canParse(origin) ? new URL(origin) : { hostname: '' }
  const isOwn = isLoopback(hostname) && origin === new URL(c.req.url).origin
  const isBase = base !== undefined && origin === new URL(base).origin
  if (isOwn || isBase || (isShared && readers.includes(origin))) return
  throw new ServiceError('forbidden', 'This origin may not use MCP')
}
