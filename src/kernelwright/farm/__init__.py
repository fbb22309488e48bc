"""Resident worker processes and compile back ends: many candidates at once, none of which can hurt the caller."""

from kernelwright.farm.cluster import Cluster, pool_for
from kernelwright.farm.compile_population import Built
from kernelwright.farm.farm import Farm
from kernelwright.farm.lost_items import Lost, Raised
from kernelwright.farm.machine import available_cores
from kernelwright.farm.pool import Pool

__all__ = ["Built", "Cluster", "Farm", "Lost", "Pool", "Raised", "available_cores", "pool_for"]
