/** The signature suite in workerd. */
import { describeSignatures } from '../contract/signatures.ts'

describeSignatures('workerd')
