// The resolution of "module": "commonjs" does not know "exports"; it finds these through "typesVersions".
import { MemoryLockStore } from 'nest-holdfast/core';
import { lockRequest } from 'nest-holdfast/express';
import { FakeClock } from 'nest-holdfast/testing';

export const everything = [MemoryLockStore, lockRequest, FakeClock];
