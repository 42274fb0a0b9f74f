/** The signature suite on Node. */
import { describeSignatures } from './signatures.ts'

describeSignatures('Node')
