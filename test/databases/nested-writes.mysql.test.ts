/** Nested writes on a real MySQL; SERVICE_TEST_MYSQL is the connection string of one that may make databases, without which no run has this file. */
import { randomBytes } from 'node:crypto'
import { describe } from 'vitest'
import { mysql } from '../../src/core/sql/mysql/dialect.ts'
import { openMysql } from '../../src/platform/drivers/mysql.ts'
import { describeNestedWrites } from './nested-writes.ts'

const { SERVICE_TEST_MYSQL: url = '' } = process.env

describe('on MySQL', () => {
  const schema = `service_test_${randomBytes(6).toString('hex')}`
  const start = async () => {
    const driver = openMysql({ connectionString: url })
    await driver.query({ text: `create database ${schema} character set utf8mb4`, params: [] })
    const close = async () => {
      await driver.query({ text: `drop database ${schema}`, params: [] })
      await driver.close()
    }
    return { driver, close }
  }
  describeNestedWrites(mysql, start, schema)
})
