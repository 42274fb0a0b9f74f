/** The signature suite in workerd. */
import { describeSignatures } from '../ports/signatures.ts'

describeSignatures('workerd')
