/** The review of a migration where somebody asks for one: it is loaded then. */
import { lazy } from '../app/lazy.tsx'

export const MigrationReview = lazy(() => import('./review/migration.tsx'))
