/** The service on Node, started like `npm run start:node` with its request log, on the database of its environment. */
import { type NodeServer, startNode } from '../../handlers/node.ts'
import { answerParent } from './child.ts'

export type OurQuestion = { readonly kind: 'start' | 'memory' | 'cpu' }
export type Memory = { readonly resident: number; readonly peak: number }

let server: NodeServer | undefined

answerParent(async ({ kind }: OurQuestion): Promise<string | number | Memory> => {
  if (kind === 'cpu') {
    const { user, system } = process.cpuUsage()
    return user + system
  }
  if (kind === 'memory') {
    return { resident: process.memoryUsage.rss(), peak: process.resourceUsage().maxRSS * 1024 }
  }
  server ??= await startNode({ environment: process.env })
  return server.url
})
