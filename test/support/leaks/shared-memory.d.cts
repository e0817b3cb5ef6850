export function removeSegment(folder: string): void;
