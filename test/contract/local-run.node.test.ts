/** The local run on Node. */
import { describeLocalRun } from './local-run.ts'

describeLocalRun('start:node')
