/** Files of more parts than a page of a list has, over S3. */
import { afterAll, beforeAll } from 'vitest'
import { openS3 } from '../../src/platform/files/s3.ts'
import { type S3Server, startS3 } from '../support/servers/s3.ts'
import { describePages } from './file-store.ts'

let server: S3Server

beforeAll(async () => {
  server = await startS3()
})

afterAll(() => server.close())

describePages('S3', () => openS3(server.address))
