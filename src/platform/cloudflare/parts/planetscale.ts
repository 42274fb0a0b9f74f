/** A part of the Worker that loads apart (decision 055): MySQL over HTTP through PlanetScale's driver. */
export { openPlanetscale } from '../../drivers/planetscale.ts'
