/** Reads what the variables say of the store of files; the platforms differ in what they have where they say nothing. */
import type { Config } from '../../config.ts'
import type { S3Options } from './s3.ts'

/** `config` is one that readConfig found valid, with SERVICE_FILES__STORE `s3`. */
export function s3Settings(config: Config): S3Options {
  return {
    endpoint: config.SERVICE_FILES__S3__ENDPOINT ?? '',
    bucket: config.SERVICE_FILES__S3__BUCKET ?? '',
    region: config.SERVICE_FILES__S3__REGION,
    accessKeyId: config.SERVICE_FILES__S3__ACCESS_KEY_ID ?? '',
    secretAccessKey: config.SERVICE_FILES__S3__SECRET_ACCESS_KEY ?? '',
  }
}
