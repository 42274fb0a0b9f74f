import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }

it('the image starts Node as npm run start:node does', () => {
  const [, command = ''] = /^CMD (\[.*\])$/m.exec(readFileSync('Dockerfile', 'utf8')) ?? []
  expect(`exec ${JSON.parse(command).join(' ')}`).toBe(manifest.scripts['start:node'])
})
