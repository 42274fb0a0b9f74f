/** The suite of assets in workerd, over the binding that wrangler.toml names. */
import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { openCloudflareAssets } from '../../src/platform/cloudflare/assets.ts'
import { describeAssets } from '../ports/assets.ts'

const { ASSETS: assets } = env as unknown as { readonly ASSETS: Fetcher }

describeAssets('workerd', () => openCloudflareAssets(assets))

it('throws where a Worker was deployed without any', async () => {
  await expect(openCloudflareAssets(undefined)('reference.html')).rejects.toThrow('was not deployed')
})
