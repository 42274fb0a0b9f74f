/** The suite of assets on Node, which also reads them from packages. */
import { expect, it } from 'vitest'
import { openNodeAssets, viewerFiles } from '../../src/platform/node/assets.ts'
import { describeAssets } from './assets.ts'

describeAssets('Node', openNodeAssets)

it.each(Object.keys(viewerFiles))('reads %s from its package', async (name) => {
  expect((await new Response(await openNodeAssets()(name)).text()).length).toBeGreaterThan(1_000)
})
