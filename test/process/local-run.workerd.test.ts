/** The local run on workerd. */
import { describeLocalRun } from './local-run.ts'

describeLocalRun('start')
